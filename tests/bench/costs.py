"""What the samples of a profile say: own and whole time, by function and by package. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Samples = Sequence[tuple[Sequence[str], int]]
"""Stacks, leaf first, and how often each was seen."""

OURS = ("gateway", "services")


@dataclass(frozen=True, slots=True)
class Costs:
    """Shares of all samples, [0, 1], by name."""

    own: Mapping[str, float]
    """Of the function that ran."""
    whole: Mapping[str, float]
    """Of a function and all it called; they overlap."""
    packages: Mapping[str, float]
    """Of the package that ran; of ours, the part."""
    rooms: Mapping[str, float]
    """Of the nearest module of ours, with what it called elsewhere."""


def costs(samples: Samples) -> Costs:
    """Return where the samples fell."""
    own: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    packages: Counter[str] = Counter()
    rooms: Counter[str] = Counter()
    for stack, count in samples:
        own[stack[0]] += count
        packages[package_of(stack[0])] += count
        rooms[_room_of(stack)] += count
        for name in set(stack):
            whole[name] += count
    total = max(1, sum(own.values()))
    return Costs(*(_shares(counts, total) for counts in (own, whole, packages, rooms)))


def package_of(name: str) -> str:
    """Return the package of a function's name; of ours, with its part."""
    parts = name.split(":")[0].removesuffix(".py").split("/")
    return "/".join(parts[:2]) if parts[0] in OURS else parts[0]


def _room_of(stack: Sequence[str]) -> str:
    module = next((name for name in stack if name.split("/")[0] in OURS), "elsewhere")
    return module.split(":")[0]


def _shares(counts: Counter[str], total: int) -> Mapping[str, float]:
    return {name: count / total for name, count in counts.most_common()}
