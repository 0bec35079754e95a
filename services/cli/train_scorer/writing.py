"""Writes a bundle: members, manifest, and the name of the latest version."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from services.cli.train_scorer.fitting import Heads
from services.scorer.adapters import minilm
from services.scorer.adapters.bundle import loading
from services.scorer.adapters.bundle.members import FORMAT, LATEST, MANIFEST, MAX_MEMBER_BYTES
from services.scorer.adapters.bundle.metadata import METADATA
from services.scorer.adapters.bundle.quality import AXES, MEANS, REGISTRY
from services.scorer.adapters.wordpiece import NAME, StaticEmbedder, read_tokenizer
from services.scorer.model.artifact import Curve, EmbedderRecipe, Floats, LinearHead
from services.scorer.model.fault import BundleError
from services.scorer.policy.embedding import Spread, StaticTables
from services.scorer.ports import Embedder

PROBE = "Write a function that returns the 10 largest of 1,000 numbers, and say why it is fast."
DIGITS = 6
"""Digits behind the point of figures in JSON members."""
OUTPUT_TOKENS = 400
"""Expected output of the default knobs: the mean of the planner's simulated sessions."""

_AXES = ("input_per_1k_usd", "output_per_1k_usd", "ttft_s", "tps", "verbosity_tokens")
EMBEDDER_MEMBERS = (loading.VECTORS, loading.SCALES, loading.SURFACE, loading.TOKENIZER)


@dataclass(frozen=True, slots=True, eq=False)
class EmbedderFiles:
    """An embedder as the members of a bundle, and at work."""

    members: Mapping[str, bytes]
    embedder: Embedder
    encoder_digest: str = ""
    """SHA-256 of the sentence encoder that it runs; empty: it runs none."""


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Everything that training found."""

    models: tuple[str, ...]
    heads: Heads
    curve: Curve | None


def read_embedder(folder: Path, max_bytes: int, encoder: Path | None = None) -> EmbedderFiles:
    """Return the embedder whose files lie in a folder, such as that of an earlier bundle.

    With ``encoder``, the ONNX file of a sentence encoder, the folder holds its tokenizer and the
    spread of surface features.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is not what its name says.
    """
    names = EMBEDDER_MEMBERS if encoder is None else EMBEDDER_MEMBERS[2:]
    members = {name: (folder / name).read_bytes() for name in names}
    tokenizer = read_tokenizer(members[loading.TOKENIZER])
    surface = _array(members[loading.SURFACE])
    if encoder is not None:
        session, spread = minilm.open_session(encoder), Spread(surface[0], surface[1])
        embedder = minilm.MiniLmEmbedder(session, tokenizer, spread, max_bytes)
        return EmbedderFiles(members, embedder, minilm.digest_of(encoder))
    vectors, scales = (_array(members[name]) for name in EMBEDDER_MEMBERS[:2])
    tables = StaticTables(vectors, scales, surface[0], surface[1])
    return EmbedderFiles(members, StaticEmbedder(tokenizer, tables, max_bytes))


def _array(content: bytes) -> np.ndarray:
    read: np.ndarray = np.load(io.BytesIO(content), allow_pickle=False)
    return read


def embedder_members(tokenizer: str, tables: StaticTables) -> dict[str, bytes]:
    """Return the files of a static embedder."""
    surface = np.stack([tables.surface_means, tables.surface_deviations])
    return {
        loading.VECTORS: array_bytes(tables.vectors),
        loading.SCALES: array_bytes(tables.scales),
        loading.SURFACE: array_bytes(surface),
        loading.TOKENIZER: tokenizer.encode(),
    }


def members_of(
    fitted: Fitted, embedder: EmbedderFiles, max_bytes: int, training: Mapping[str, object]
) -> dict[str, bytes]:
    """Return the members of a bundle; ``training`` is added to what its metadata says."""
    heads, models = fitted.heads, fitted.models
    vector = embedder.embedder.embed(PROBE).unit
    name = minilm.NAME if embedder.encoder_digest else NAME
    recipe = EmbedderRecipe(name, len(vector), max_bytes, PROBE, vector)
    entries = [{"model": m, "provider": "offline", "bench_column": m} for m in models]
    axes = dict.fromkeys(_AXES)
    return {
        **embedder.members,
        loading.CENTROIDS: loading.encode_centroids(heads.clusters.centroids),
        **_linear(heads.linear),
        loading.PIECES: array_bytes(heads.pieces.weights),
        loading.PIECE_IDF: array_bytes(heads.pieces.idf),
        REGISTRY: json_bytes({"deployed_models": entries}),
        MEANS: json_bytes(_cells(heads, models)),
        AXES: json_bytes({"axes": dict.fromkeys(models, axes)}),
        METADATA: json_bytes(_metadata(fitted, recipe, embedder.encoder_digest, training)),
    }


def place_of(folder: Path, version: str) -> Path:
    """Return the folder of a bundle that is to be written.

    Raises:
        ValueError: the version is no new name.
    """
    place = folder / version
    if place.parent != folder or place.exists() or version == LATEST:
        raise ValueError(f"--version {version}: must be a new name; a bundle never changes")
    return place


def write_bundle(
    folder: Path, version: str, members: Mapping[str, bytes], encoder: Path | None = None
) -> Path:
    """Write a bundle and make it the latest once it loads; returns its folder.

    Raises:
        ValueError: a member is too large to be loaded, or the version is no new name.
        BundleError: it cannot be loaded; nothing of it stays.
        OSError: the folder cannot be written.
    """
    for name, content in members.items():
        if len(content) > MAX_MEMBER_BYTES:
            raise ValueError(f"{name} has {len(content)} bytes, more than {MAX_MEMBER_BYTES}")
    place = place_of(folder, version)
    place.mkdir(parents=True)
    listing = {name: hashlib.sha256(members[name]).hexdigest() for name in sorted(members)}
    manifest = {"format": FORMAT, "version": version, "members": listing}
    for name, content in {**members, MANIFEST: json_bytes(manifest)}.items():
        (place / name).write_bytes(content)
    try:
        loading.load(folder, version, encoder)
    except BundleError:
        shutil.rmtree(place)
        raise
    (folder / LATEST).write_text(f"{version}\n", encoding="utf-8")
    return place


def json_bytes(value: object) -> bytes:
    """Return a value as JSON with a line end, keys in the order given."""
    return f"{json.dumps(value, ensure_ascii=False, indent=1)}\n".encode()


def array_bytes(values: np.ndarray) -> bytes:
    """Return an array in the format of numpy's own files."""
    buffer = io.BytesIO()
    np.save(buffer, np.ascontiguousarray(values), allow_pickle=False)
    return buffer.getvalue()


def by_model(models: tuple[str, ...], values: Floats) -> dict[str, float]:
    """Return rounded values by model."""
    return {model: round(float(value), DIGITS) for model, value in zip(models, values, strict=True)}


def _linear(head: LinearHead) -> dict[str, bytes]:
    everywhere = np.vstack([head.weights, head.offsets])
    regions = head.regions
    if regions is None:
        return {loading.LINEAR: array_bytes(everywhere.astype("<f4"))}
    inside = np.concatenate([regions.weights, regions.offsets[:, None]], axis=1)
    return {
        loading.REGIONS: loading.encode_centroids(regions.centroids),
        loading.LINEAR: array_bytes(np.stack([everywhere, *inside]).astype("<f4")),
    }


def _cells(heads: Heads, models: tuple[str, ...]) -> dict[str, object]:
    rows = range(heads.clusters.count)
    counts = {str(k): dict(zip(models, map(int, heads.cell_counts[k]), strict=True)) for k in rows}
    return {
        "quality_means": {str(k): by_model(models, heads.clusters.quality[k]) for k in rows},
        "model_means": by_model(models, heads.means),
        "cell_counts": counts,
    }


def _metadata(
    fitted: Fitted, recipe: EmbedderRecipe, encoder: str, training: Mapping[str, object]
) -> dict[str, object]:
    clusters, curve = fitted.heads.clusters, fitted.curve
    vector = [round(float(number), DIGITS) for number in recipe.probe_vector]
    document: dict[str, object] = {
        "embedder": {
            "model": recipe.name,
            "embed_dim": recipe.dimensions,
            "max_bytes": recipe.max_bytes,
            **({"encoder": encoder} if encoder else {}),
            "probe": {"text": recipe.probe_text, "vector": vector},
        },
        "training": {
            "k": clusters.count,
            "top_p": clusters.top_p,
            "weighting": "softmax",
            "temperature": clusters.temperature,
            "cost": "request",
            "far_similarity": round(fitted.heads.far_similarity, DIGITS),
            "default_routing_knobs": {"expected_output_tokens": OUTPUT_TOKENS},
            **training,
        },
    }
    if curve is not None:
        document["curve"] = {
            "base": round(curve.base, DIGITS),
            "slope": round(curve.slope, DIGITS),
            "scale": round(curve.scale, DIGITS),
            "shift": round(curve.shift, DIGITS),
            "weights": by_model(fitted.models, curve.weights),
            "skills": by_model(fitted.models, curve.skills),
        }
    return document
