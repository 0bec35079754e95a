"""Predicts the quality of every measured model on one prompt: the mean of the heads present."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from services.scorer.model.artifact import (
    Artifact,
    ClusterHead,
    Floats,
    Halves,
    Indices,
    LinearHead,
    PieceHead,
    Pieces,
    TextVector,
)


@dataclass(frozen=True, slots=True, eq=False)
class Nearby:
    """The nearest clusters, nearest first, with cosine and weight of each."""

    ids: Indices
    similarities: Floats
    weights: Floats
    """Softmax shares that sum to 1, or ones where the artifact sums."""


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """Quality of each measured model, [0, 1], and where the prompt lies."""

    quality: Floats
    nearby: Nearby
    is_far: bool


def predict(artifact: Artifact, text: TextVector) -> Prediction:
    """Return the mean of the heads present.

    A prompt that is far from every cluster belongs to no region and leans halfway on the models'
    means: topic skill is worth little where nothing alike was measured.
    """
    nearby = nearest(artifact.clusters, text.unit)
    is_far = bool(nearby.similarities[0] < artifact.far_similarity)
    parts = [cluster_quality(artifact.clusters, nearby)]
    if artifact.linear is not None:
        parts.append(linear_quality(artifact.linear, text, is_far=is_far))
    if artifact.pieces is not None:
        parts.append(piece_quality(artifact.pieces, text.pieces))
    quality: Floats = sum(parts[1:], parts[0]) / len(parts)
    if is_far:
        quality = (quality + artifact.means) / 2
    return Prediction(np.minimum(np.maximum(quality, 0.0), 1.0), nearby, is_far)


def nearest(clusters: ClusterHead, unit: Floats) -> Nearby:
    """Return the clusters that take part; on ties the lower index is nearer."""
    similarities = clusters.centroids @ unit
    ids = np.argsort(-similarities, kind="stable")[: clusters.top_p]
    kept = similarities[ids]
    if clusters.temperature is None:
        return Nearby(ids, kept, np.ones(len(ids)))
    raised = np.exp((kept - kept[0]) / clusters.temperature)
    return Nearby(ids, kept, raised / raised.sum())


def cluster_quality(clusters: ClusterHead, nearby: Nearby) -> Floats:
    """Return the weighted mean of the nearby clusters' rows."""
    quality: Floats = nearby.weights @ clusters.quality[nearby.ids] / nearby.weights.sum()
    return quality


def linear_quality(head: LinearHead, text: TextVector, *, is_far: bool) -> Floats:
    """Return the qualities of the nearest region, of none where ``is_far``; may leave [0, 1]."""
    weights, offsets, regions = head.weights, head.offsets, head.regions
    if regions is not None and not is_far:
        nearest_one = int((regions.centroids @ text.unit).argmax())
        weights, offsets = regions.weights[nearest_one], regions.offsets[nearest_one]
    quality: Floats = text.joint @ weights + offsets
    return quality


def piece_quality(head: PieceHead, pieces: Pieces) -> Floats:
    """Return the word-piece head's qualities; without a known piece those are its offsets."""
    weights = head.weights.take(pieces.ids, axis=0).astype(np.float64)
    quality: Floats = piece_weights(pieces, head.idf) @ weights + head.offsets
    return quality


def piece_weights(pieces: Pieces, idf: Halves) -> Floats:
    """Return the weight of each piece: 1 + log count, times idf, at unit length together."""
    values: Floats = (1.0 + np.log(pieces.counts)) * idf[pieces.ids]
    size = math.sqrt(values @ values)
    return values / size if size > 0 else values
