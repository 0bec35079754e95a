"""Answers tell what was measured as it was measured."""

from __future__ import annotations

from services.scorer.codec.requests import Asked
from services.scorer.codec.responses import Identity, Watch, scored
from services.scorer.model.question import Eligibility, Features, Question
from tests.unit.scorer import worlds

CATALOG = worlds.catalog(worlds.entry("a"))


def test_a_slow_embedder_is_told_with_all_of_its_time() -> None:
    made = worlds.artifact([[0.5]], ("a",), top_p=1)
    question = Question(Features(), Eligibility())
    decision = worlds.decided(worlds.desk(made, CATALOG), worlds.text(1.0), question)
    asked = Asked(
        question=question,
        text="",
        effort="",
        is_acting=True,
        wants_embedding=False,
        is_brief=False,
        artifact_version="",
        action_id="",
        session_hash="",
    )
    identity = Identity("", "", made.version, made.digest)
    watch = Watch(embed_s=1.25, score_s=0.000_5, is_cached=False)
    timing = scored(decision, asked, worlds.text(1.0), identity, watch, ()).timing
    assert timing.embed.ToNanoseconds() == 1_250_000_000
    assert timing.score.ToNanoseconds() == 500_000
