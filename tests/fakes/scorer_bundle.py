"""A tiny scoring bundle: three clusters, two measured models, twelve word pieces.

``members()`` gives its files; a test changes some and writes them with ``write``, which makes the
manifest anew unless it is told to leave it as it was.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from services.scorer.adapters.bundle.loading import encode_centroids
from services.scorer.adapters.wordpiece import NAME, StaticEmbedder
from services.scorer.model.artifact import Floats
from services.scorer.policy.embedding import StaticTables
from services.scorer.policy.surface import COUNT

VERSION = "tiny-1"
WIDTH = 4
DIMENSIONS = WIDTH + COUNT
PIECES = (
    "[UNK]",
    "prove",
    "the",
    "theorem",
    "sum",
    "of",
    "two",
    "numbers",
    "say",
    "hello",
    "##s",
    "now",
)
MODELS = ("small", "large")
PROBE = "say hello now"


def tokenizer_json() -> str:
    """Return a word-piece tokenizer of a dozen pieces."""
    document: dict[str, object] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {piece: index for index, piece in enumerate(PIECES)},
        },
    }
    return json.dumps(document)


def tables() -> StaticTables:
    """Return vectors drawn from a fixed seed."""
    source = np.random.default_rng(7)
    vectors = source.integers(-127, 128, size=(len(PIECES), WIDTH)).astype(np.int8)
    return StaticTables(
        vectors, np.full(len(PIECES), 0.01, np.float16), np.zeros(COUNT), np.ones(COUNT)
    )


def embedder() -> StaticEmbedder:
    """Return the embedder of the bundle."""
    return StaticEmbedder(Tokenizer.from_str(tokenizer_json()), tables(), 1_024)


def centroids() -> Floats:
    """Return the unit vectors of three texts."""
    texts = ("prove the theorem", "sum of two numbers", PROBE)
    return np.stack([embedder().embed(text).unit for text in texts])


def metadata(*, has_risk: bool) -> dict[str, object]:
    """Return the metadata as values."""
    document: dict[str, object] = {
        "embedder": {
            "model": NAME,
            "embed_dim": DIMENSIONS,
            "max_bytes": 1_024,
            "probe": {"text": PROBE, "vector": embedder().embed(PROBE).unit.tolist()},
        },
        "training": {"top_p": 2, "default_routing_knobs": {"expected_output_tokens": 500}},
    }
    if has_risk:
        document["curve"] = {
            "base": 0.4,
            "slope": 0.3,
            "weights": {"small": -0.1, "large": -0.1},
            "skills": {"small": 0.32, "large": 0.8},
        }
    return document


def members(*, has_risk: bool = True) -> dict[str, bytes]:
    """Return every file of the bundle but the manifest."""
    cells = {"0": (0.2, 0.9), "1": (0.6, 0.8), "2": (0.95, 0.96)}
    axes = {"ttft_s": 0.5, "tps": 100.0, "verbosity_tokens": 300}
    made = tables()
    return {
        "centroids.bin": encode_centroids(centroids()),
        "model_registry.json": as_json(
            {
                "deployed_models": [
                    {"model": name, "provider": "acme", "bench_column": f"{name}_bench"}
                    for name in MODELS
                ]
            }
        ),
        "quality_means.json": as_json(
            {"quality_means": {k: dict(zip(MODELS, row, strict=True)) for k, row in cells.items()}}
        ),
        "model_axes.json": as_json({"axes": {"small": axes, "large": {**axes, "tps": 25.0}}}),
        "metadata.yaml": as_json(metadata(has_risk=has_risk)),
        "vectors.npy": as_array(made.vectors),
        "vector_scales.npy": as_array(made.scales),
        "surface.npy": as_array(np.stack([made.surface_means, made.surface_deviations])),
        "tokenizer.json": tokenizer_json().encode(),
    }


def with_heads(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with a linear head and a word-piece head beside the clusters."""
    linear = np.zeros((DIMENSIONS + 1, len(MODELS)), np.float32)
    linear[-1] = (0.4, 0.8)
    pieces = np.zeros((len(PIECES), len(MODELS)), np.float16)
    pieces[PIECES.index("prove")] = (-0.5, 0.1)
    return {
        **files,
        "linear.npy": as_array(linear),
        "pieces.npy": as_array(pieces),
        "piece_idf.npy": as_array(np.ones(len(PIECES), np.float16)),
    }


def with_regions(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files with a linear head that holds 0.4 and 0.8 everywhere but in two regions.

    In the region of the first cluster it holds 0.1 and 0.9, in that of the second 0.2 and 0.7.
    """
    linear = np.zeros((3, DIMENSIONS + 1, len(MODELS)), np.float32)
    linear[:, -1] = ((0.4, 0.8), (0.1, 0.9), (0.2, 0.7))
    return {
        **with_heads(files),
        "linear.npy": as_array(linear),
        "regions.bin": encode_centroids(centroids()[:2]),
    }


def manifest(files: Mapping[str, bytes], **changes: object) -> bytes:
    """Return the manifest of some files."""
    listing = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    return as_json({"format": 2, "version": VERSION, "members": listing, **changes})


def write(folder: Path, files: Mapping[str, bytes], manifest_bytes: bytes | None = None) -> Path:
    """Write a bundle and the name of the latest; returns the folder of bundles."""
    place = folder / VERSION
    place.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
    (place / "manifest.json").write_bytes(
        manifest(files) if manifest_bytes is None else manifest_bytes
    )
    (folder / "latest").write_text(VERSION)
    return folder


def as_json(value: object) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def as_array(values: np.ndarray) -> bytes:
    """Return an array as numpy writes it."""
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()
