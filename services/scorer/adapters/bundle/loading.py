"""Builds the artifact and its embedder from the checked files of a bundle."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from services.scorer.adapters import minilm
from services.scorer.adapters.bundle.members import Members, floats, read_members, version_to_load
from services.scorer.adapters.bundle.metadata import METADATA, Metadata, read_metadata
from services.scorer.adapters.bundle.quality import Quality, read_quality
from services.scorer.adapters.wordpiece import NAME, StaticEmbedder, read_tokenizer
from services.scorer.model.artifact import (
    Artifact,
    ClusterHead,
    Floats,
    LinearHead,
    PieceHead,
    Regions,
)
from services.scorer.model.fault import EmbedderError
from services.scorer.policy.embedding import Spread, StaticTables
from services.scorer.policy.surface import COUNT
from services.scorer.ports import Embedder

CENTROIDS = "centroids.bin"
MAGIC = b"PMC1"
LINEAR = "linear.npy"
REGIONS = "regions.bin"
PIECES = "pieces.npy"
PIECE_IDF = "piece_idf.npy"
VECTORS = "vectors.npy"
SCALES = "vector_scales.npy"
SURFACE = "surface.npy"
TOKENIZER = "tokenizer.json"
LEAST_PROBE_COSINE = 0.999

_HEADER = struct.Struct("<4sIII")
_CENTROIDS_FORMAT = 1
_UNIT_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """An artifact and the embedder that it was trained with."""

    artifact: Artifact
    embedder: Embedder


def load(folder: Path, version: str = "", encoder: Path | None = None) -> Loaded:
    """Return a bundle of ``folder``: the version asked for, else the latest.

    ``encoder`` is the model file of artifacts that were trained with a sentence encoder.

    Raises:
        BundleError: something in it is not as it should be; names version and file.
    """
    members = read_members(folder, version_to_load(folder, version))
    centroids = _centroids(members, CENTROIDS)
    quality = read_quality(members, centroids.shape[0])
    metadata = read_metadata(members, centroids.shape, quality.models)
    embedder = _embedder(members, metadata, encoder)
    artifact = _artifact(members, centroids, quality, metadata, embedder)
    _probe(members, artifact, embedder)
    return Loaded(artifact, embedder)


def _artifact(
    members: Members,
    centroids: Floats,
    quality: Quality,
    metadata: Metadata,
    embedder: Embedder,
) -> Artifact:
    clusters = ClusterHead(centroids, quality.cells, metadata.top_p, metadata.temperature)
    return Artifact(
        version=members.version,
        digest=members.digest,
        embedder=metadata.embedder,
        measured=quality.models,
        aliases=quality.aliases,
        means=quality.means,
        clusters=clusters,
        knobs=metadata.knobs,
        linear=_linear(members, centroids.shape[1], len(quality.models)),
        pieces=_pieces(members, embedder.vocabulary, quality.means),
        curve=metadata.curve,
        far_similarity=metadata.far_similarity,
        axes=quality.axes,
        is_internal=metadata.is_internal,
    )


def _centroids(members: Members, name: str) -> Floats:
    content = members.raw(name)
    if len(content) < _HEADER.size:
        raise members.fault(name, "is shorter than its header")
    magic, version, count, dimensions = _HEADER.unpack_from(content)
    if magic != MAGIC:
        raise members.fault(name, f"must begin with {MAGIC.decode()}")
    if version != _CENTROIDS_FORMAT:
        raise members.fault(name, f"format must be {_CENTROIDS_FORMAT}, not {version}")
    if count < 1 or dimensions < 1:
        raise members.fault(name, "must have at least one cluster and one dimension")
    if len(content) != _HEADER.size + 4 * count * dimensions:
        raise members.fault(name, f"must hold {count} x {dimensions} numbers of 4 bytes")
    read = floats(np.frombuffer(content, "<f4", offset=_HEADER.size).reshape(count, dimensions))
    members.finite(read, name)
    if (abs(np.linalg.norm(read, axis=1) - 1) > _UNIT_TOLERANCE).any():
        raise members.fault(name, "rows must have length 1")
    return read


def encode_centroids(centroids: Floats) -> bytes:
    """Return the file of unit rows that :func:`load` reads."""
    header = _HEADER.pack(MAGIC, _CENTROIDS_FORMAT, *centroids.shape)
    return header + centroids.astype("<f4").tobytes()


def _linear(members: Members, dimensions: int, models: int) -> LinearHead | None:
    if not members.has(LINEAR):
        return None
    if not members.has(REGIONS):
        read = floats(members.array(LINEAR, "<f4", (dimensions + 1, models)))
        return LinearHead(read[:-1], read[-1])
    centroids = _centroids(members, REGIONS)
    if centroids.shape[1] != dimensions:
        raise members.fault(REGIONS, f"must have {dimensions} dimensions, as the clusters have")
    shape = len(centroids) + 1, dimensions + 1, models
    everywhere, *inside = floats(members.array(LINEAR, "<f4", shape))
    read = np.stack(inside)
    regions = Regions(centroids, read[:, :-1], read[:, -1])
    return LinearHead(everywhere[:-1], everywhere[-1], regions)


def _pieces(members: Members, vocabulary: int, means: Floats) -> PieceHead | None:
    if not members.has(PIECES):
        return None
    weights = members.array(PIECES, "<f2", (vocabulary, len(means)))
    return PieceHead(weights, members.array(PIECE_IDF, "<f2", (vocabulary,)), means)


def _embedder(members: Members, metadata: Metadata, encoder: Path | None) -> Embedder:
    recipe = metadata.embedder
    if recipe.name not in (NAME, minilm.NAME):
        fault = f"embedder {recipe.name!r} is not available here; this build has {NAME!r}"
        raise members.fault(METADATA, fault)
    try:
        tokenizer = read_tokenizer(members.raw(TOKENIZER))
    except ValueError as error:
        raise members.fault(TOKENIZER, str(error)) from None
    surface = members.array(SURFACE, "<f8", (2, COUNT))
    if (surface[1] <= 0).any():
        raise members.fault(SURFACE, "deviations must be above 0")
    if recipe.name == minilm.NAME:
        session = _session(members, metadata, encoder)
        spread = Spread(surface[0], surface[1])
        try:
            return minilm.MiniLmEmbedder(session, tokenizer, spread, recipe.max_bytes)
        except ValueError as error:
            raise members.fault(TOKENIZER, str(error)) from None
    size, width = tokenizer.get_vocab_size(), recipe.dimensions - COUNT
    if width < 1:
        raise members.fault(METADATA, f"embed_dim must be above {COUNT}")
    tables = StaticTables(
        vectors=members.array(VECTORS, "|i1", (size, width)),
        scales=members.array(SCALES, "<f2", (size,)),
        surface_means=surface[0],
        surface_deviations=surface[1],
    )
    return StaticEmbedder(tokenizer, tables, recipe.max_bytes)


def _session(members: Members, metadata: Metadata, encoder: Path | None) -> minilm.Session:
    """Return the sentence encoder that the artifact was trained with, and no other."""
    if encoder is None:
        fault = "was trained with a sentence encoder: name its file in services.scorer.encoder"
        raise members.fault(METADATA, fault)
    if metadata.embedder.dimensions != minilm.WIDTH + COUNT:
        raise members.fault(METADATA, f"embed_dim must be {minilm.WIDTH + COUNT}")
    try:
        session = minilm.open_session(encoder)
        digest = minilm.digest_of(encoder)
    except (ValueError, OSError) as error:
        raise members.fault(METADATA, f"encoder: {error}") from None
    if digest != metadata.encoder_digest:
        fault = f"encoder: {encoder} has another SHA-256 than the one that training used"
        raise members.fault(METADATA, fault)
    return session


def _probe(members: Members, artifact: Artifact, embedder: Embedder) -> None:
    """Refuse an embedder that does not give the vector that training wrote down."""
    recipe = artifact.embedder
    try:
        vector = embedder.embed(recipe.probe_text).unit
    except EmbedderError as error:
        raise members.fault(METADATA, f"the embedder fails at its probe: {error}") from None
    cosine = float(vector @ recipe.probe_vector)
    if not cosine >= LEAST_PROBE_COSINE:
        fault = f"the embedder's probe has cosine {cosine:.4f}, not {LEAST_PROBE_COSINE}"
        raise members.fault(METADATA, fault)
