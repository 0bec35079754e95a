"""Levels of reasoning effort, as catalogs and people name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LEVELS = ("minimal", "low", "medium", "high", "xhigh", "max")
"""All levels that a reasoning effort may have, rising."""

SPOKEN_LEVELS: Mapping[str, str] = {
    "fast": "low",
    "min": "low",
    "med": "medium",
    "ultra": "xhigh",
}
"""Other words for levels, as people say them."""


def level_of(word: str) -> str:
    """Return the level that ``word`` means; empty: none."""
    level = word.strip().lower()
    level = SPOKEN_LEVELS.get(level, level)
    return level if level in LEVELS else ""


def split_effort(model: str) -> tuple[str, str]:
    """Return a model's name without a suffix such as ``:high``, and the level; empty: none.

    A tail that names no level belongs to the name.
    """
    name, mark, tail = model.rpartition(":")
    level = level_of(tail)
    return (name, level) if mark and name and level else (model, "")
