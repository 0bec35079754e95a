"""A prompt fits where it leaves the answer its room; where none does, it may fill a window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.eligibility import Question, freeze
from gateway.eligibility.removals import permits, removal_of
from gateway.eligibility.windows import reserve_of, room_in
from gateway.model import Layer
from services.domain.vocab import WireFamily
from services.domain.wire.features import Requirement
from services.domain.wire.requirements import RequirementMode
from tests.unit.gateway.facts import catalog, features, policy, question, row

tokens = st.integers(0, 2_000_000)
MODELS = catalog(
    row("tiny", "p1", window=8_000, tier="low"),
    row("small", "p1", window=200_000, tier="mid"),
    row("large", "p1", window=1_000_000, tier="top"),
)


def asking(prompt: int, wanted: int = 0, signed: int = 0, *providers: str) -> Question:
    sized = replace(features(prompt), max_output_tokens=wanted, signature_tokens=signed)
    return question(*(providers or ("p1",)), features=sized)


def fitting(asked: Question, **limits: object) -> list[str]:
    record = freeze(asked, policy(**limits), MODELS)
    return [name for name in MODELS.models if permits(record, name, "p1")]


@pytest.mark.spec("SCO-21")
def test_the_answer_has_8000_tokens_or_what_is_asked_for_and_at_most_half_of_a_window() -> None:
    assert reserve_of(200_000, 0) == reserve_of(200_000, 8_000) == 8_000
    assert reserve_of(200_000, 32_000) == 32_000
    assert reserve_of(200_000, 400_000) == 100_000
    assert (reserve_of(8_000, 0), reserve_of(8_000, 64_000)) == (2_000, 4_000)


@given(tokens, tokens, tokens)
def test_room_grows_with_the_window_and_shrinks_by_what_is_asked_for(
    window: int, more: int, wanted: int
) -> None:
    assert window // 2 <= room_in(window, wanted) <= window
    assert room_in(window, wanted) <= room_in(window + more, wanted)
    assert room_in(window, wanted + more) <= room_in(window, wanted)


@pytest.mark.spec("SCO-21")
def test_a_prompt_that_leaves_no_room_goes_to_a_larger_window() -> None:
    assert fitting(asking(6_000)) == ["tiny", "small", "large"]
    assert fitting(asking(6_001)) == ["small", "large"]
    assert fitting(asking(192_000)) == ["small", "large"]
    assert fitting(asking(192_001)) == ["large"]
    assert fitting(asking(168_000, 32_000)) == ["small", "large"]
    assert fitting(asking(168_001, 32_000)) == ["large"]
    record = freeze(asking(192_001), policy(), MODELS)
    assert removal_of(record, "small", "p1") is Layer.CONTEXT_WINDOW


@pytest.mark.spec("SCO-21")
def test_where_no_larger_window_is_there_a_prompt_may_fill_one() -> None:
    assert fitting(asking(1_000_000)) == ["large"]
    assert fitting(asking(1_000_001)) == []
    alone = {"excluded_models": frozenset({"large"})}
    assert fitting(asking(200_000, 64_000), **alone) == ["small"]
    assert fitting(asking(200_001), **alone) == []
    left_alone = {"automatic_exclusions": ("large",)}
    assert fitting(asking(200_000), **left_alone) == ["small", "large"]
    assert fitting(asking(200_001), **left_alone) == ["large"]
    named = replace(asking(200_000), forced_model="small")
    assert "small" in fitting(named)


@pytest.mark.spec("SCO-21")
def test_a_window_that_may_not_serve_is_no_larger_window() -> None:
    """Its own binding elsewhere, and a model that is only served by name, take nothing over."""
    elsewhere = {
        **row("small", "p1", tier="mid"),
        "bindings": [
            {"provider": name, "context_window": window, "input_usd_per_mtok": 1.0}
            | {"output_usd_per_mtok": 1.0}
            for name, window in (("p1", 200_000), ("p2", 1_000_000))
        ],
    }
    named_only = row("large", "p1", window=1_000_000, tier="top", automatic=False)
    models = catalog(elsewhere, named_only)
    assert permits(freeze(asking(199_000), policy(), models), "small", "p1")
    both = freeze(asking(199_000, 0, 0, "p1", "p2"), policy(), models)
    assert [permits(both, "small", name) for name in ("p1", "p2")] == [False, True]


@pytest.mark.spec("SCO-21", "XLT-85")
def test_a_prompt_may_fill_a_window_also_where_a_need_is_let_go() -> None:
    needs = features(199_000, (Requirement.SERVER_TOOLS,))
    asked = question("p1", features=needs, family=WireFamily.ANTHROPIC)
    limits = policy(requirements=RequirementMode.ENFORCE, families={"p1": WireFamily.OPENAI_CHAT})
    small = catalog(row("small", "p1", window=200_000))
    assert permits(freeze(asked, limits, small), "small", "p1")


@pytest.mark.spec("SCO-21")
def test_signed_reasoning_takes_no_room_where_it_is_not_sent() -> None:
    asked = asking(250_000, 0, 60_000)
    assert fitting(asked, families={"p1": WireFamily.OPENAI_CHAT}) == ["small", "large"]
    assert fitting(asked, families={"p1": WireFamily.ANTHROPIC}) == ["large"]
