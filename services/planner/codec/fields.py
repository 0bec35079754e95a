"""Checks of fields that only this contract has. Every complaint names the field."""

from __future__ import annotations

from pointsman.common.v1 import binding_pb2

from services.domain import fields
from services.domain.errors import InvalidRequestError
from services.domain.fields import text
from services.domain.keeping import kept
from services.planner.model.question import Binding

MOST_BINDINGS = 256
"""Decoded bindings that are kept: an action asks about those that others asked about."""


def usd(micro_usd: int, field: str) -> float:
    """Return money, or a price per million tokens, that is at least 0.

    Raises:
        InvalidRequestError: it is below 0.
    """
    if micro_usd < 0:
        raise InvalidRequestError.of(field, "must be at least 0")
    return fields.usd(micro_usd)


def binding(message: binding_pb2.BindingRef, field: str) -> Binding:
    """Return a binding whose model and provider are named.

    Raises:
        InvalidRequestError: one of them is not.
    """
    return _binding(message.SerializeToString(), field)


@kept(MOST_BINDINGS)
def _binding(sealed: bytes, field: str) -> Binding:
    message = binding_pb2.BindingRef.FromString(sealed)
    return Binding(
        text(message.model_id, f"{field}.model_id"),
        text(message.provider, f"{field}.provider"),
        message.upstream_id,
        message.binding_index,
    )
