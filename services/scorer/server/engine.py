"""One loaded artifact at work: embeds, predicts, decides; remembers vectors, never texts."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from typing import TYPE_CHECKING

from services.scorer.policy.decide import Desk, decide
from services.scorer.policy.filters import filtered
from services.scorer.policy.heads import predict

if TYPE_CHECKING:
    from services.scorer.model.artifact import TextVector
    from services.scorer.model.decision import Decision, Pool, Refusal
    from services.scorer.model.question import Question
    from services.scorer.ports import Embedder
    from services.scorer.server.pool import EmbeddingPool

MOST_POOLS = 256
"""Results of the filters that are kept, by record."""


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
        self._vectors: OrderedDict[bytes, TextVector] = OrderedDict()
        self._pools: OrderedDict[tuple[bytes, bool, bool], Pool] = OrderedDict()

    def moved(self, desk: Desk, catalog_version: str) -> Engine:
        """Return this engine at another desk: the same embedder, threads and known vectors."""
        other = Engine(
            desk, self._embedder, self._entries, self._pool, catalog_version=catalog_version
        )
        other._vectors = self._vectors
        return other

    async def embed(self, text: str, left_s: float | None = None) -> tuple[TextVector, bool]:
        """Return the vector of a text, and whether it was known already.

        Raises:
            RouterError: ROUTING_UNAVAILABLE; a slow embedder has no vector within ``left_s``.
        """
        key = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()
        known = self._vectors.get(key)
        if known is not None:
            self._vectors.move_to_end(key)
            return known, True
        if self._pool is None:
            vector = self._embedder.embed(text)
        else:
            vector = await self._pool.embed(text, left_s)
        if self._entries > 0:
            self._vectors[key] = vector
            if len(self._vectors) > self._entries:
                self._vectors.popitem(last=False)
        return vector, False

    def close(self) -> None:
        """End the threads of a slow embedder."""
        if self._pool is not None:
            self._pool.close()

    def decide(self, vector: TextVector, question: Question) -> Decision | Refusal:
        """Return the decision for a text, or why nothing may serve.

        Raises:
            InvalidRequestError: the knobs do not fit together.
        """
        prediction = predict(self.desk.artifact, vector)
        return decide(self.desk, prediction, question, self._pool_of(question))

    def _pool_of(self, question: Question) -> Pool:
        """Return what the filters leave; of features they read whether there are tools and images.

        Most actions of an installation have the same record.
        """
        features, eligibility = question.features, question.eligibility
        key = (eligibility.content, features.tool_count > 0, features.image_count > 0)
        known = self._pools.get(key)
        if known is not None and eligibility.content:
            self._pools.move_to_end(key)
            return known
        pool = filtered(self.desk.deployment.models, features, eligibility)
        self._pools[key] = pool
        if len(self._pools) > MOST_POOLS:
            self._pools.popitem(last=False)
        return pool
