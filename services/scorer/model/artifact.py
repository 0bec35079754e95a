"""A scoring artifact as immutable values: what was measured, and the heads that predict from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats: TypeAlias = npt.NDArray[np.float64]
"""Numbers that are computed with."""
Halves: TypeAlias = npt.NDArray[np.float16]
"""Numbers that are only stored."""
Bytes8: TypeAlias = npt.NDArray[np.int8]
"""Quantised numbers."""
Indices: TypeAlias = npt.NDArray[np.int64]

DEFAULT_TOP_P = 4
"""Nearest clusters that take part where an artifact does not say."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The known word pieces of one text, each once, and how often each appears."""

    ids: Indices
    counts: Floats


NO_PIECES = Pieces(np.zeros(0, dtype=np.int64), np.zeros(0))


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """One text as an embedder sees it."""

    joint: Floats
    """Meaning at unit length, then surface features; what the linear head reads."""
    pieces: Pieces
    """What the word-piece head reads."""
    unknown_share: float
    """Share of word pieces that the vocabulary lacks, [0, 1]."""
    embedded_bytes: int
    """UTF-8 bytes that were read."""

    @property
    def unit(self) -> Floats:
        """The joint vector at unit length; zero stays zero."""
        size = math.sqrt(self.joint @ self.joint)
        return self.joint / size if size > 0 else self.joint


@dataclass(frozen=True, slots=True, eq=False)
class EmbedderRecipe:
    """How texts became vectors in training; serving must do the same."""

    name: str
    dimensions: int
    max_bytes: int
    probe_text: str
    probe_vector: Floats
    """Joint vector of the probe at unit length."""


@dataclass(frozen=True, slots=True, eq=False)
class Regions:
    """Linear functions by region, for the texts nearest to its unit centroid."""

    centroids: Floats
    weights: Floats
    """By region, dimension and model."""
    offsets: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LinearHead:
    """Quality as a linear function of the joint vector, one column per measured model.

    In a region of alike texts another function may hold than elsewhere.
    """

    weights: Floats
    """By dimension and model."""
    offsets: Floats
    regions: Regions | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PieceHead:
    """Quality as a linear function of weighted word pieces, one column per measured model."""

    weights: Halves
    idf: Halves
    offsets: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ClusterHead:
    """Quality by cluster: unit centroids and a table with a row per cluster."""

    centroids: Floats
    quality: Floats
    top_p: int
    temperature: float | None
    """Sharpness of the weights of the nearest clusters; None: they count alike and are summed."""

    @property
    def count(self) -> int:
        """Number of clusters."""
        return int(self.centroids.shape[0])


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Item-response curve: chance that a model of a skill meets the need of a prompt.

    ``need = base + weights · logit(quality)`` over the measured models;
    ``P(good enough) = logistic((skill - need) / slope)``.
    """

    base: float
    weights: Floats
    slope: float
    skills: Floats
    """Fitted skill of each measured model on the catalog's scale; may leave [0, 1]."""
    scale: float = 1.0
    """Sharpness that turns a predicted quality into a chance: its log odds times this, plus shift.
    The mean of several shrunken heads is too cautious by itself."""
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Axes:
    """Speed and length of one measured model's answers; None is not known."""

    first_token_s: float | None = None
    tokens_per_s: float | None = None
    verbosity_tokens: float | None = None


@dataclass(frozen=True, slots=True)
class ArtifactKnobs:
    """Knobs that hold where a request sets none; ``alpha`` has one entry per cluster."""

    alpha: tuple[float, ...]
    alpha_floor: tuple[float, ...]
    speed_weight: float = 0.0
    output_cost_ratio: float = 0.0
    expected_output_tokens: int = 2_000
    is_verbosity_per_model: bool = False
    is_cost_per_request: bool = True
    """Whether cost is that of the request at hand; else of a thousand tokens at a price ratio."""


@dataclass(frozen=True, slots=True, eq=False)
class Artifact:
    """One loaded bundle."""

    version: str
    digest: str
    embedder: EmbedderRecipe
    measured: tuple[str, ...]
    """Measured models; the columns of every head, in this order."""
    aliases: Mapping[str, int]
    """Each measured model's names to its column."""
    means: Floats
    """Mean quality of each measured model."""
    clusters: ClusterHead
    knobs: ArtifactKnobs
    linear: LinearHead | None = None
    pieces: PieceHead | None = None
    curve: Curve | None = None
    far_similarity: float = -1.0
    """Cosine to the nearest cluster below which a prompt is unlike everything measured."""
    axes: Mapping[str, Axes] = field(default_factory=dict)
    is_internal: bool = False
    """Whether it learnt from tables without a licence; such an artifact is not for release."""

    @property
    def has_risk(self) -> bool:
        """Whether its qualities are chances, so that risk has a meaning and a price."""
        return self.curve is not None
