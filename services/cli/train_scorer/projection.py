"""Turns a sentence encoder's word-piece vectors into small tables that serve without it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from tokenizers import Tokenizer

from services.scorer.adapters.wordpiece import UNKNOWN
from services.scorer.model.artifact import Bytes8, Floats, Halves
from services.scorer.policy.embedding import StaticTables, tail
from services.scorer.policy.surface import features

WIDTH = 128
MAX_BYTES = 1_024


def pruned_tokenizer(source: str) -> tuple[str, tuple[str, ...]]:
    """Return a tokenizer without special and unused pieces, and its pieces in order of id.

    The unknown piece comes first. Nothing is added around a text, cut or padded.
    """
    document = json.loads(source)
    vocabulary: dict[str, int] = document["model"]["vocab"]
    ordered = sorted(vocabulary, key=vocabulary.__getitem__)
    pieces = (UNKNOWN, *(p for p in ordered if len(p) == 1 or not p.startswith("[")))
    document["model"]["vocab"] = {piece: index for index, piece in enumerate(pieces)}
    document["added_tokens"] = []
    for part in ("truncation", "padding", "post_processor", "decoder"):
        document[part] = None
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")), pieces


def project(vectors: Floats, tokenizer: Tokenizer, texts: Sequence[str]) -> StaticTables:
    """Return int8 vectors: centred on the mean of ``texts``, then their principal directions.

    ``vectors`` has a row per piece of ``tokenizer``. Centring is folded into every row, so that a
    text is the plain mean of its pieces.
    """
    means, surfaces = [], []
    unknown = tokenizer.token_to_id(UNKNOWN)
    for text in texts:
        read = tail(text, MAX_BYTES)
        ids = np.array(tokenizer.encode(read, add_special_tokens=False).ids, dtype=np.int64)
        known = ids[ids != unknown]
        if known.size:
            means.append(vectors[known].mean(axis=0))
        surfaces.append(features(read))
    stacked = np.stack(means)
    centre = stacked.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov((stacked - centre).T))
    small = (vectors - centre) @ directions[:, ::-1][:, :WIDTH]
    packed, scales = quantised(small)
    spread = np.stack(surfaces)
    return StaticTables(packed, scales, spread.mean(axis=0), np.maximum(spread.std(axis=0), 1e-3))


def quantised(vectors: Floats) -> tuple[Bytes8, Halves]:
    """Return each row as whole numbers from -127 to 127 and the scale that restores it."""
    scales = np.maximum(np.abs(vectors).max(axis=1) / 127, 1e-6).astype(np.float16)
    return np.round(vectors / scales[:, None].astype(np.float64)).astype(np.int8), scales
