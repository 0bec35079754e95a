"""The static embedder: a word-piece tokenizer and a table of vectors; no network, no model run."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from services.scorer.adapters.words import PlainWords
from services.scorer.model.artifact import TextVector
from services.scorer.policy.embedding import StaticTables, counted, meaning, spread_of, tail
from services.scorer.policy.surface import features
from services.scorer.policy.tally import tallied

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "static-wordpiece-1"
"""Identifies recipe and code; an artifact that names another embedder is refused."""
UNKNOWN = "[UNK]"


class StaticEmbedder:
    """Embeds texts with the tables of one artifact."""

    def __init__(self, tokenizer: Tokenizer, tables: StaticTables, max_bytes: int) -> None:
        self._tokenizer = tokenizer
        self._tables = tables
        self._spread = tables.spread
        self._max_bytes = max_bytes
        self._unknown_id = tokenizer.token_to_id(UNKNOWN)
        self._plain = PlainWords(tokenizer)

    @property
    def dimensions(self) -> int:
        """Length of its joint vectors."""
        return self._tables.dimensions

    @property
    def vocabulary(self) -> int:
        """Number of word pieces."""
        return self._tokenizer.get_vocab_size()

    @property
    def is_slow(self) -> bool:
        """Never: it stays in the event loop."""
        return False

    def embed(self, text: str) -> TextVector:
        """Return the vector of the text's last bytes."""
        read = tail(text, self._max_bytes)
        tally = tallied(read)
        pieces, unknown_share = counted(self._pieces(read, tally), self._unknown_id)
        surface = spread_of(self._spread, features(read, tally))
        return TextVector(
            joint=np.concatenate([meaning(self._tables, pieces), surface]),
            pieces=pieces,
            unknown_share=unknown_share,
            embedded_bytes=len(read.encode("utf-8", "replace")),
        )

    def _pieces(self, text: str, tally: Mapping[str, int]) -> Mapping[int, int]:
        plain = self._plain.counts(text, tally)
        if plain is not None:
            return plain
        return Counter(self._tokenizer.encode(text, add_special_tokens=False).ids)


def read_tokenizer(content: bytes) -> Tokenizer:
    """Return the tokenizer that ``content`` describes.

    Raises:
        ValueError: it describes none, or one without an unknown piece or with gaps in its ids.
    """
    try:
        tokenizer = Tokenizer.from_str(content.decode("utf-8"))
    except Exception as error:  # noqa: BLE001 - the library raises bare Exception on bad files
        raise ValueError(f"is no tokenizer: {error}") from None
    if tokenizer.token_to_id(UNKNOWN) is None:
        raise ValueError(f"must have the piece {UNKNOWN}")
    if max(tokenizer.get_vocab().values()) >= tokenizer.get_vocab_size():
        raise ValueError("must number its pieces without a gap: tables have a row for each")
    return tokenizer
