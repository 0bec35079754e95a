from __future__ import annotations

from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.deciding.belief import believed
from gateway.deciding.planning import prompt_tokens
from gateway.model import Action, BindingRef, Plan
from gateway.sessions.model import Session, TokenCounts
from gateway.sessions.usage import record_use
from services.domain.pricing import cost_of
from services.domain.wire.model import Usage
from tests.unit.gateway.deciding.made import CATALOG, action, moment
from tests.unit.gateway.sessions.made import NOW, pinned, use

LARGE = CATALOG.models["large"].bindings[0]
PLAN = Plan((BindingRef("large", "acme", LARGE.upstream_id, 0),))
MARK = {"type": "ephemeral"}


def asked(tokens: int, *, is_marked: bool = True) -> Action:
    block: dict[str, object] = {"type": "text", "text": "go on"}
    if is_marked:
        block["cache_control"] = MARK
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]}
    return replace(action(orjson.dumps(body)), input_tokens=tokens)


def billed(tokens: int, cached: int) -> Usage:
    """Return what a vendor counts that writes all new tokens to its cache but the last few."""
    written = max(0, tokens - cached - 5)
    return Usage(tokens - cached - written, cached, written, output=400)


def counted(session: Session, usage: Usage, estimate: int, at_unix_s: float) -> Session:
    tokens = TokenCounts(
        usage.fresh_input, usage.cache_read or 0, usage.cache_write or 0, usage.output
    )
    made = replace(use(tokens=tokens, at_unix_s=at_unix_s), estimated_tokens=estimate)
    return record_use(session, made, "cluster")


@pytest.mark.spec("PLN-15")
@given(
    first=st.integers(5_000, 60_000),
    growth=st.lists(st.integers(300, 1_500), min_size=2, max_size=12),
    bias=st.floats(0.5, 1.9),
)
def test_after_the_first_count_a_prompt_is_believed_within_5_percent_of_its_bill(
    first: int, growth: list[int], bias: float
) -> None:
    session, real, cached, now = pinned(), first, 0, NOW
    for number, more in enumerate((0, *growth)):
        real += more
        estimate = max(1, round(real / bias))
        belief = believed(asked(estimate), PLAN, session, moment(now_unix_s=now), ())
        usage = billed(real, cached)
        bill = cost_of(usage, LARGE.price)
        assert belief is not None
        if number:
            assert belief.cost.input_parts == pytest.approx(bill.input_parts, rel=0.05)
        session = counted(session, usage, estimate, now)
        cached = (usage.cache_read or 0) + (usage.cache_write or 0)
        now += 30


def test_a_first_prompt_is_written_where_it_is_marked_and_fresh_elsewhere() -> None:
    marked = believed(asked(1_000), PLAN, pinned(), moment(), ())
    plain = believed(asked(1_000, is_marked=False), PLAN, pinned(), moment(), ())
    assert marked is not None
    assert plain is not None
    assert marked.usage == Usage(0, 0, 1_000)
    assert plain.usage == Usage(1_000, 0, 0)


@pytest.mark.spec("PLN-12", "PLN-13")
def test_nothing_is_read_where_the_cache_is_over_cut_or_anothers() -> None:
    session = counted(pinned(), billed(10_000, 0), 10_000, NOW)
    warm = believed(asked(10_500), PLAN, session, moment(now_unix_s=NOW + 299), ())
    assert warm is not None
    assert warm.usage.cache_read == 9_995
    late = believed(asked(10_500), PLAN, session, moment(now_unix_s=NOW + 300), ())
    cut = believed(asked(10_500), PLAN, replace(session, history_epoch=1), moment(), ())
    other = believed(asked(10_500), PLAN, session, moment(), ("f1",))
    for cold in (late, cut, other):
        assert cold is not None
        assert cold.usage.cache_read == 0


def test_writes_of_an_hour_are_priced_as_such() -> None:
    session = counted(pinned(), billed(10_000, 0), 10_000, NOW)
    long = replace(session, uses=(replace(session.uses[0], cache_ttl_s=3600.0),))
    belief = believed(asked(11_000), PLAN, long, moment(now_unix_s=NOW + 900), ())
    assert belief is not None
    assert belief.usage.cache_write_1h == belief.usage.cache_write
    assert belief.usage.cache_read == 9_995


@given(estimate=st.integers(2_000, 10**6), factor=st.floats(0.3, 3.5))
def test_an_estimate_that_missed_is_corrected_for_the_next_prompt(
    estimate: int, factor: float
) -> None:
    real = max(1, round(estimate * factor))
    session = counted(pinned(), Usage(real, 0, 0), estimate, NOW)
    corrected = prompt_tokens(session, 2 * estimate)
    assert corrected == pytest.approx(2 * real, rel=0.001, abs=2)


def test_a_count_that_is_out_of_reach_corrects_no_further_than_fourfold() -> None:
    session = counted(pinned(), Usage(100_000, 0, 0), 10_000, NOW)
    assert prompt_tokens(replace(session, history_epoch=1), 1_000) == 4_000


def test_a_short_prompt_tells_what_is_added_to_it_and_not_how_words_are_counted() -> None:
    session = counted(pinned(), Usage(8_000, 0, 0), 30, NOW)
    assert prompt_tokens(session, 100_030) == 108_000
    assert prompt_tokens(replace(session, history_epoch=1), 1_000) == 1_000


@given(first=st.integers(1, 10**5), later=st.integers(0, 10**5), real=st.integers(1, 10**5))
def test_a_history_that_was_not_cut_never_shrinks(first: int, later: int, real: int) -> None:
    session = counted(pinned(), Usage(real, 0, 0), first, NOW)
    assert prompt_tokens(session, later) >= real
