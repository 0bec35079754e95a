"""A level of reasoning that is forced: it goes before what the request itself asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.effort import LEVELS, SPOKEN_LEVELS, level_of
from services.domain.wire.model import Reasoning, WireError

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Target


def forced_level(word: str) -> str:
    """Return the level that a caller forces.

    Raises:
        WireError: the word names no level.
    """
    level = level_of(word)
    if not level:
        names = ", ".join((*LEVELS, *SPOKEN_LEVELS))
        raise WireError("effort", f"must be one of {names}")
    return level


def with_forced_effort(request: Request, target: Target) -> Request:
    """Return ``request`` with the level that is forced, where one is."""
    if not target.effort:
        return request
    return replace(request, reasoning=Reasoning("level", level=target.effort))
