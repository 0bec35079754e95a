"""Answers that a provider of this dialect keeps: whether it shall, and which one comes before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.openai_responses.parts import FAMILY
from services.domain.wire.reading import load, text

if TYPE_CHECKING:
    from services.domain.wire.model import Request


def previous_answer(request: Request) -> str:
    """Return the id of the answer that a request goes on from; empty: none."""
    raw = dict(request.extras).get("previous_response_id") if request.family is FAMILY else None
    return text(load(raw)) if raw is not None else ""


def is_stored(request: Request) -> bool:
    """Return whether the provider is to keep the answer: it does unless it is told not to."""
    return request.family is FAMILY and ("store", b"false") not in request.extras
