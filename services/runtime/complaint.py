"""Words complaints about settings: which key, and what to write instead; never a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime import schema as schemas

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

_PLAIN_FIXES = {
    "missing": "must be set",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text in quotes",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
}


def path_of(detail: ErrorDetails, schema: type[BaseModel]) -> schemas.Path:
    """Return the key that a failed check is about."""
    path = tuple(str(part) for part in detail["loc"])
    # The arms of a union and "[key]" of a table are no keys of ours.
    while path and detail["type"] not in ("missing", "extra_forbidden"):
        if schemas.type_at(schema, path) is not None:
            break
        path = path[:-1]
    return path


def fix_of(detail: ErrorDetails, schema: type[BaseModel], path: schemas.Path) -> str:
    """Return what to write instead."""
    kind = detail["type"]
    if kind == "extra_forbidden":
        return f"unknown key; {schemas.hint(path[-1], schemas.keys_at(schema, path[:-1]))}"
    if kind in _PLAIN_FIXES:
        return _PLAIN_FIXES[kind]
    return detail["msg"].removeprefix("Value error, ").removeprefix("Input ").replace("\n", " ")
