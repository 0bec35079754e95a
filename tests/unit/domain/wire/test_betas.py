"""Beta features that a Messages target is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.wire.anthropic.betas import CONTEXT_MANAGEMENT, LONG_CONTEXT, betas_for

PLAIN = ModelFacts(image_input=False, extended_context=False)
BUDGETED = ModelFacts(reasoning="optional", reasoning_budget=True)
ADAPTIVE = ModelFacts(reasoning="optional", adaptive_thinking=True, extended_context=True)
TOLD = (
    LONG_CONTEXT,
    "interleaved-thinking-2025-05-14",
    "adaptive-thinking-2026-01-28",
    "thinking-token-count-2026-05-13",
    "fine-grained-tool-streaming-2025-05-14",
)


@pytest.mark.spec("XLT-23")
@pytest.mark.parametrize(
    ("facts", "kept"),
    [
        (ADAPTIVE, TOLD),
        (BUDGETED, (TOLD[0], *TOLD[3:])),
        (PLAIN, TOLD[4:]),
        (ModelFacts(), TOLD),
    ],
)
def test_a_beta_goes_only_where_the_model_has_the_feature(
    facts: ModelFacts, kept: tuple[str, ...]
) -> None:
    assert betas_for(TOLD, facts, b"{}") == kept


@pytest.mark.spec("XLT-23")
def test_context_management_is_asked_for_when_the_body_has_it() -> None:
    body = b'{"context_management":{"edits":[]},"messages":[]}'
    assert betas_for((), ADAPTIVE, body) == (CONTEXT_MANAGEMENT,)
    assert betas_for((CONTEXT_MANAGEMENT,), ADAPTIVE, body) == (CONTEXT_MANAGEMENT,)
    for other in (b'{"context_management":null}', b'{"a":"\\"context_management\\""}', b"{}"):
        assert betas_for((), ADAPTIVE, other) == ()


@pytest.mark.spec("XLT-23")
def test_the_long_window_is_asked_for_where_there_is_one() -> None:
    assert betas_for((), ADAPTIVE, b"", is_long_context_needed=True) == (LONG_CONTEXT,)
    for facts in (PLAIN, ModelFacts(), BUDGETED):
        assert betas_for((), facts, b"", is_long_context_needed=True) == ()


@given(st.lists(st.sampled_from((*TOLD, CONTEXT_MANAGEMENT, "x-2026-01-01")), max_size=9))
@pytest.mark.spec("XLT-23")
def test_no_beta_comes_twice_and_order_stays(told: list[str]) -> None:
    asked = betas_for(told, ADAPTIVE, b'{"context_management":1}', is_long_context_needed=True)
    assert len(set(asked)) == len(asked)
    assert [name for name in asked if name in told] == list(dict.fromkeys(told))
