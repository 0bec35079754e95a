"""One loaded artifact at work: embeds, predicts, decides; remembers vectors, never texts."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from services.scorer.policy.decide import Desk, decide
from services.scorer.policy.filters import filtered
from services.scorer.policy.heads import predict

if TYPE_CHECKING:
    from services.scorer.model.artifact import TextVector
    from services.scorer.model.decision import Decision, Pool, Refusal
    from services.scorer.model.question import Question
    from services.scorer.policy.heads import Prediction
    from services.scorer.ports import Embedder
    from services.scorer.server.pool import EmbeddingPool

MOST_POOLS = 256
"""Results of the filters that are kept, by record."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """A text as the artifact reads it: its vector, and what that predicts."""

    vector: TextVector
    prediction: Prediction


class _Latest(Generic[K, V]):
    """Keeps what was asked for last, up to a number; 0: nothing."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
        return found

    def put(self, key: K, value: V) -> None:
        self._kept[key] = value
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)


class Engine:
    """Decides with one artifact. A fast embedder stays in the loop, a slow one has a pool."""

    def __init__(
        self,
        desk: Desk,
        embedder: Embedder,
        cache_entries: int,
        pool: EmbeddingPool | None = None,
        *,
        catalog_version: str = "",
    ) -> None:
        self.catalog_version = catalog_version
        self.desk = desk
        self._embedder = embedder
        self._pool = pool
        self._entries = cache_entries
        self._texts: _Latest[bytes, Read] = _Latest(cache_entries)
        self._pools: _Latest[tuple[bytes, bool, bool], Pool] = _Latest(MOST_POOLS)

    def moved(self, desk: Desk, catalog_version: str) -> Engine:
        """Return this engine at another desk of its artifact: it knows the same texts."""
        other = Engine(
            desk, self._embedder, self._entries, self._pool, catalog_version=catalog_version
        )
        other._texts = self._texts
        return other

    async def read(self, text: str, left_s: float | None = None) -> tuple[Read, bool]:
        """Return a text as the artifact reads it, and whether it was known already.

        Raises:
            RouterError: ROUTING_UNAVAILABLE; a slow embedder has no vector within ``left_s``.
        """
        key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        known = self._texts.get(key)
        if known is not None:
            return known, True
        if self._pool is None:
            vector = self._embedder.embed(text)
        else:
            vector = await self._pool.embed(text, left_s)
        read = Read(vector, predict(self.desk.artifact, vector))
        self._texts.put(key, read)
        return read, False

    def close(self) -> None:
        """End the threads of a slow embedder."""
        if self._pool is not None:
            self._pool.close()

    def decide(self, read: Read, question: Question) -> Decision | Refusal:
        """Return the decision for a text, or why nothing may serve.

        Raises:
            InvalidRequestError: the knobs do not fit together.
        """
        return decide(self.desk, read.prediction, question, self._pool_of(question))

    def _pool_of(self, question: Question) -> Pool:
        """Return what the filters leave; of features they read whether there are tools and images.

        Most actions of an installation have the same record.
        """
        features, eligibility = question.features, question.eligibility
        key = (eligibility.content, features.tool_count > 0, features.image_count > 0)
        known = self._pools.get(key) if eligibility.content else None
        if known is not None:
            return known
        pool = filtered(self.desk.deployment.models, features, eligibility)
        self._pools.put(key, pool)
        return pool
