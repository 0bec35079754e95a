"""The arithmetic of the static embedder: word-piece vectors and surface features in one vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from services.scorer.model.artifact import Bytes8, Floats, Halves, Indices

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


def meaning(tables: StaticTables, piece_ids: Indices) -> Floats:
    """Return the mean of the pieces' vectors at unit length; zero when there are none."""
    width = tables.vectors.shape[1]
    if piece_ids.size == 0:
        return np.zeros(width)
    scales = tables.scales[piece_ids].astype(np.float64)
    mean: Floats = scales @ tables.vectors[piece_ids].astype(np.float64) / piece_ids.size
    size = float(np.linalg.norm(mean))
    return mean / size if size > 0 else mean


def joint(tables: StaticTables, piece_ids: Indices, surface: Floats) -> Floats:
    """Return meaning and standardised surface features as one vector."""
    return np.concatenate([meaning(tables, piece_ids), spread_of(tables.spread, surface)])


def spread_of(spread: Spread, surface: Floats) -> Floats:
    """Return standardised surface features, weighed against a meaning of length 1."""
    standard = (surface - spread.means) / spread.deviations
    weighed: Floats = np.clip(standard, -CLIP, CLIP) * (SURFACE_WEIGHT / np.sqrt(surface.size))
    return weighed
