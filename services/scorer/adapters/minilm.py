"""The opt-in sentence encoder: a small transformer on the CPU, tens of milliseconds a text.

Needs ``onnxruntime``. Texts are encoded one at a time, in training too: dynamically quantised
encoders depend on what else is in the batch.
"""

from __future__ import annotations

import hashlib
import importlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from services.scorer.adapters.wordpiece import UNKNOWN
from services.scorer.model.artifact import TextVector
from services.scorer.model.fault import EmbedderError
from services.scorer.policy.embedding import Spread, counted, spread_of, tail
from services.scorer.policy.surface import features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tokenizers import Tokenizer

    from services.scorer.model.artifact import Floats, Indices

NAME = "minilm-int8-1"
"""Identifies recipe and code; an artifact that names another embedder is refused."""
WIDTH = 384
MAX_TOKENS = 256
MARKS = ("[CLS]", "[SEP]")
"""Stand before and behind a text."""
LEAST_BYTES = 1 << 20
"""A smaller file is a placeholder, not a model."""

States: TypeAlias = npt.NDArray[np.float32]


class Session(Protocol):
    """What is used of an onnxruntime session."""

    def run(self, output_names: None, input_feed: Mapping[str, Indices]) -> Sequence[States]:
        """Return the outputs of the model."""
        ...


class MiniLmEmbedder:
    """Embeds texts with a sentence encoder: the mean of its last states, then surface features."""

    def __init__(
        self, session: Session, tokenizer: Tokenizer, spread: Spread, max_bytes: int
    ) -> None:
        """Take a tokenizer that has the marks around a text.

        Raises:
            ValueError: it lacks them, as the pruned one of a static embedder does.
        """
        self._session = session
        self._tokenizer = tokenizer
        self._spread = spread
        self._max_bytes = max_bytes
        self._unknown_id = tokenizer.token_to_id(UNKNOWN)
        self._ends = [tokenizer.token_to_id(mark) for mark in MARKS]
        if None in self._ends:
            raise ValueError(f"the tokenizer must have the pieces {' and '.join(MARKS)}")

    @property
    def dimensions(self) -> int:
        """Length of its joint vectors."""
        return WIDTH + self._spread.means.size

    @property
    def vocabulary(self) -> int:
        """Number of word pieces."""
        return self._tokenizer.get_vocab_size()

    @property
    def is_slow(self) -> bool:
        """Always: it must not run in the event loop."""
        return True

    def embed(self, text: str) -> TextVector:
        """Return the vector of the text's last bytes.

        Raises:
            EmbedderError: the encoder failed.
        """
        read = tail(text, self._max_bytes)
        ids: list[int] = self._tokenizer.encode(read, add_special_tokens=False).ids
        ids = ids[-(MAX_TOKENS - 2) :]
        pieces, unknown_share = counted(Counter(ids), self._unknown_id)
        return TextVector(
            joint=np.concatenate([self._meaning(ids), spread_of(self._spread, features(read))]),
            pieces=pieces,
            unknown_share=unknown_share,
            embedded_bytes=len(read.encode("utf-8", "replace")),
        )

    def _meaning(self, ids: Sequence[int]) -> Floats:
        asked = np.array([[self._ends[0], *ids, self._ends[1]]], dtype=np.int64)
        feed = {
            "input_ids": asked,
            "attention_mask": np.ones_like(asked),
            "token_type_ids": np.zeros_like(asked),
        }
        try:
            states = self._session.run(None, feed)[0]
        except Exception as error:  # noqa: BLE001 - the runtime raises bare Exceptions of its own
            raise EmbedderError(type(error).__name__) from None
        if states.ndim != 3 or states.shape[2] != WIDTH:
            raise EmbedderError(f"its states have shape {states.shape}")
        mean: Floats = states[0].mean(axis=0, dtype=np.float64)
        size = float(np.linalg.norm(mean))
        return mean / size if size > 0 else mean


def open_session(model: Path) -> Session:
    """Return the encoder of an ONNX file, on one core so that its sums keep their order.

    Raises:
        ValueError: the file is missing, a placeholder or no model, or the runtime is not installed.
    """
    if not model.is_file() or model.stat().st_size < LEAST_BYTES:
        raise ValueError(f"{model} is no model: a file of at least 1 MiB is needed")
    try:
        runtime = importlib.import_module("onnxruntime")
    except ModuleNotFoundError:
        raise ValueError("onnxruntime is not installed: install the extra minilm") from None
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    try:
        session: Session = runtime.InferenceSession(
            str(model), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # noqa: BLE001 - the runtime raises bare Exceptions of its own
        raise ValueError(f"{model} is no model: {type(error).__name__}") from None
    return session


def digest_of(model: Path) -> str:
    """Return the SHA-256 of a model file, which an artifact names.

    Raises:
        OSError: it cannot be read.
    """
    with model.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
