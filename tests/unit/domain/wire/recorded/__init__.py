"""Golden wire forms of all four dialects: what clients send, and what upstreams answer.

``<family>/requests/<case>.json`` is a body as a client of the family writes it, and
``<family>/answers/<case>.json`` and ``.sse`` are an answer as an upstream of the family sends it,
whole and streamed. Cases of one name say the same in every dialect; what they say stands in
:mod:`tests.unit.domain.wire.recorded.requests` and
:mod:`tests.unit.domain.wire.recorded.answers`. A dialect that has no form for a case has no file.

All of it is made up, in the members, order and framing that the vendors use (November 2026).
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parent

FAMILIES = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
PAIRS = tuple((client, upstream) for client in FAMILIES for upstream in FAMILIES)
"""Every client dialect with every upstream dialect."""

STATES: Mapping[WireFamily, tuple[str, ...]] = {
    WireFamily.ANTHROPIC: ("EqQBsignedByA+/8=", "RW5jcnlwdGVk+/=="),
    WireFamily.OPENAI_CHAT: (),
    WireFamily.OPENAI_RESPONSES: ("gAAAAABsignedByR_-=",),
    WireFamily.GEMINI: ("CiQBsignedByG+/8=",),
}
"""Opaque state that the recorded requests and answers of a family hold."""


def requests_of(family: WireFamily) -> tuple[str, ...]:
    """Return the names of the request cases of a dialect."""
    return _names(family, "requests", "json")


def answers_of(family: WireFamily, kind: str) -> tuple[str, ...]:
    """Return the names of the answer cases of a dialect; ``kind`` is ``json`` or ``sse``."""
    return _names(family, "answers", kind)


@functools.cache
def request_body(family: WireFamily, case: str) -> bytes:
    """Return the body of a request case."""
    return (ROOT / family.value / "requests" / f"{case}.json").read_bytes()


@functools.cache
def whole_answer(family: WireFamily, case: str) -> bytes:
    """Return the body of an answer case."""
    return (ROOT / family.value / "answers" / f"{case}.json").read_bytes()


@functools.cache
def streamed_answer(family: WireFamily, case: str) -> bytes:
    """Return the stream of an answer case."""
    return (ROOT / family.value / "answers" / f"{case}.sse").read_bytes()


def _names(family: WireFamily, room: str, kind: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (ROOT / family.value / room).glob(f"*.{kind}")))
