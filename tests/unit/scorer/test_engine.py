"""What an engine keeps of texts and records is bounded, and is that of the latest."""

from __future__ import annotations

from services.scorer.model.artifact import TextVector
from services.scorer.model.question import Eligibility, Features, Layer, Question
from services.scorer.server.engine import MOST_POOLS, Engine
from tests.unit.scorer import worlds

CATALOG = worlds.catalog(worlds.entry("a"), worlds.entry("b"))
DESK = worlds.desk(worlds.artifact([[0.5, 0.6]], ("a", "b"), top_p=1), CATALOG)


class Embedder:
    """Gives every text the same vector."""

    dimensions = worlds.WIDTH
    vocabulary = 1
    is_slow = False

    def embed(self, text: str) -> TextVector:
        """Return a vector along the first axis."""
        return worlds.text(1.0)


def engine(entries: int = 2) -> Engine:
    return Engine(DESK, Embedder(), entries)


async def known(asked: Engine, texts: str) -> list[bool]:
    return [(await asked.read(text))[1] for text in texts]


async def test_the_texts_that_were_asked_for_last_are_known() -> None:
    assert await known(engine(), "abacab") == [False, False, True, False, True, False]
    assert await known(engine(0), "aa") == [False, False]


async def test_another_catalog_forgets_no_text() -> None:
    first = engine()
    await first.read("a")
    assert await known(first.moved(DESK, "v2"), "ab") == [True, False]


async def test_what_is_kept_of_records_is_bounded_and_never_that_of_an_unknown_one() -> None:
    asked = engine()
    read, _ = await asked.read("a")
    for number in range(MOST_POOLS + 10):
        record = Eligibility(content=b"%d" % number)
        asked.decide(read, Question(Features(), record))
    assert len(asked._pools._kept) == MOST_POOLS
    for out in ("a", "b"):
        record = Eligibility(excluded_models={out: Layer.OPERATOR})
        decision = asked.decide(read, Question(Features(), record))
        assert [drop.model_id for drop in decision.pool.dropped] == [out]  # type: ignore[union-attr]  # no refusal
