"""A level of reasoning that is forced: it goes before what the request itself asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.wire.levels import LEVELS, SPOKEN_LEVELS
from services.domain.wire.model import Reasoning, WireError

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target


def forced_level(word: str) -> str:
    """Return the level that a caller forces.

    Raises:
        WireError: the word names no level.
    """
    level = _level(word)
    if level not in LEVELS:
        names = ", ".join((*LEVELS, *SPOKEN_LEVELS))
        raise WireError("effort", f"must be one of {names}")
    return level


def split_effort(model: str) -> tuple[str, str]:
    """Return a model's name without a suffix such as ``:high``, and the level; empty: none.

    A tail that names no level belongs to the name.
    """
    name, mark, tail = model.rpartition(":")
    level = _level(tail)
    return (name, level) if mark and name and level in LEVELS else (model, "")


def with_forced_effort(request: Request, target: Target) -> Request:
    """Return ``request`` with the level that is forced, where one is."""
    if not target.effort:
        return request
    return replace(request, reasoning=Reasoning("level", level=target.effort))


def _level(word: str) -> str:
    level = word.strip().lower()
    return SPOKEN_LEVELS.get(level, level)
