"""The arithmetic of the static embedder: word-piece vectors and surface features in one vector."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from services.scorer.model.artifact import Bytes8, Floats, Halves, Pieces

CLIP = 4.0
"""Standard deviations beyond which a surface feature says no more."""
SURFACE_WEIGHT = 0.5
"""Length that all surface features at one deviation have together, beside a meaning of length 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Mean and deviation of each surface feature over the texts of training."""

    means: Floats
    deviations: Floats


@dataclass(frozen=True, slots=True, eq=False)
class StaticTables:
    """What a static embedder looks up: a row per word piece, and the spread of each feature."""

    vectors: Bytes8
    scales: Halves
    surface_means: Floats
    surface_deviations: Floats

    @property
    def spread(self) -> Spread:
        """The spread of surface features."""
        return Spread(self.surface_means, self.surface_deviations)

    @property
    def dimensions(self) -> int:
        """Length of the joint vector."""
        return int(self.vectors.shape[1] + self.surface_means.shape[0])


def tail(text: str, max_bytes: int) -> str:
    """Return the last ``max_bytes`` bytes of ``text``, cut forward to a character boundary.

    Lone surrogates, which have no bytes, become question marks.
    """
    if len(text) <= max_bytes and text.isascii():
        return text
    encoded = text.encode("utf-8", "replace")
    start = max(len(encoded) - max_bytes, 0)
    while start < len(encoded) and encoded[start] & 0xC0 == 0x80:
        start += 1
    return encoded[start:].decode("utf-8")


def counted(counts: Mapping[int, int], unknown_id: int | None) -> tuple[Pieces, float]:
    """Return the known ones of a text's pieces, and the share of its pieces that is unknown."""
    total, unknown = sum(counts.values()), 0
    if unknown_id is not None and unknown_id in counts:
        unknown = counts[unknown_id]
        counts = {piece: counts[piece] for piece in counts if piece != unknown_id}
    ids = np.fromiter(counts, np.int64, len(counts))
    pieces = Pieces(ids, np.fromiter(counts.values(), np.float64, len(counts)))
    return pieces, unknown / total if total else 0.0


def meaning(tables: StaticTables, pieces: Pieces) -> Floats:
    """Return the mean of the pieces' vectors at unit length; zero when there are none."""
    scales = tables.scales[pieces.ids] * pieces.counts
    total: Floats = scales @ tables.vectors.take(pieces.ids, axis=0).astype(np.float64)
    size = math.sqrt(total @ total)
    return total / size if size > 0 else total


def spread_of(spread: Spread, surface: Floats) -> Floats:
    """Return standardised surface features, weighed against a meaning of length 1."""
    standard = (surface - spread.means) / spread.deviations
    clipped: Floats = np.minimum(np.maximum(standard, -CLIP), CLIP)
    return clipped * (SURFACE_WEIGHT / math.sqrt(surface.size))
