"""Asks a sentence encoder once for the vector of every word piece; needs ``onnxruntime``."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from services.cli.train_scorer.projection import pruned_tokenizer
from services.scorer.adapters.wordpiece import UNKNOWN
from services.scorer.model.artifact import Floats, Indices

Hidden: TypeAlias = npt.NDArray[np.float32]
"""States of every piece of every text of a batch."""


class Session(Protocol):
    """What is used of an onnxruntime session."""

    def run(self, output_names: None, input_feed: Mapping[str, Indices]) -> Sequence[Hidden]:
        """Return the outputs of the model."""
        ...


def open_encoder(model: Path) -> Session:
    """Return the encoder of an ONNX file, on one core so that its sums keep their order."""
    runtime = importlib.import_module("onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session: Session = runtime.InferenceSession(
        str(model), options, providers=["CPUExecutionProvider"]
    )
    return session


def piece_vectors(
    encoder: Session, tokenizer: str, progress: Callable[[int, int], None]
) -> tuple[str, Floats]:
    """Return the pruned tokenizer and a row for each of its pieces; the unknown piece is zero.

    A piece is encoded alone between the marks of start and end, one at a time: dynamically
    quantised encoders depend on what else is in the batch.
    """
    pruned, pieces = pruned_tokenizer(tokenizer)
    ids = _ids(tokenizer)
    rows: list[Hidden] = []
    for count, piece in enumerate(pieces):
        asked = np.array([[ids["[CLS]"], ids[piece], ids["[SEP]"]]], dtype=np.int64)
        feed = {
            "input_ids": asked,
            "attention_mask": np.ones_like(asked),
            "token_type_ids": np.zeros_like(asked),
        }
        hidden = encoder.run(None, feed)[0]
        rows.append(hidden[0].mean(axis=0))
        progress(count + 1, len(pieces))
    vectors = np.stack(rows).astype(np.float64)
    vectors[pieces.index(UNKNOWN)] = 0.0
    return pruned, vectors


def _ids(tokenizer: str) -> dict[str, int]:
    vocabulary: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return vocabulary
