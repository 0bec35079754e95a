"""Reads the bodies of orders by a schema; a complaint names field and fix, never a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from services.domain.errors import FieldViolation, InvalidRequestError
from services.runtime import complaint

if TYPE_CHECKING:
    from gateway.office.model import Document

S = TypeVar("S", bound=BaseModel)


def read(schema: type[S], body: Document) -> S:
    """Return a body as values.

    Raises:
        InvalidRequestError: a field is unknown, missing or cannot be used.
    """
    try:
        return schema.model_validate(body)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    violations = []
    for detail in details:
        path = complaint.path_of(detail, schema)
        name = ".".join(path) or "body"
        violations.append(FieldViolation(name, complaint.fix_of(detail, schema, path)))
    raise InvalidRequestError(violations)
