"""A sentence encoder without weights: each token's state is a fixed function of its id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from services.scorer.adapters.minilm import WIDTH, States
from services.scorer.model.artifact import Indices


class FakeSession:
    """Stands in for an onnxruntime session."""

    def __init__(self, width: int = WIDTH, fault: Exception | None = None) -> None:
        self._width = width
        self._fault = fault
        self.asked: list[list[int]] = []

    def run(self, output_names: None, input_feed: Mapping[str, Indices]) -> Sequence[States]:
        """Return a state per token."""
        if self._fault is not None:
            raise self._fault
        ids = input_feed["input_ids"]
        self.asked.append(ids[0].tolist())
        steps = np.arange(1, self._width + 1)
        return [np.sin(ids[..., None] * steps * 0.1).astype(np.float32)]
