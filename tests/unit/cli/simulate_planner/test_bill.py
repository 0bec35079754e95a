"""What an action bills in the simulated world, and how steps between models are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.cli.simulate_planner.campaign import BOUND, VALUE, Result
from services.cli.simulate_planner.contestants import Fixed, list_price
from services.cli.simulate_planner.history import History, summary_usd
from services.cli.simulate_planner.play import Account, Caches, Choice, Stage, Steps
from services.cli.simulate_planner.prices import MODELS, ActionSize, SimModel, usage_of
from services.cli.simulate_planner.report import Goal, plot
from services.cli.simulate_planner.world import Session, WorldConfig
from services.domain.catalog import Price
from services.domain.pricing import cost_of, prompt_tokens
from services.planner.model.question import Binding, Economics, PriceRow
from services.planner.policy.prices import side_price
from services.planner.policy.value import premium_usd, warm_usd

HIGH = next(model for model in MODELS if model.name == "high")
SIZE = ActionSize(tokens=10_000, cacheable=8_000, output=100)


def stage(
    gaps_s: Sequence[float], trims: tuple[int, ...] = (), lost: tuple[int, ...] = ()
) -> Stage:
    count = len(gaps_s)
    session = Session(
        time_s=[sum(gaps_s[: t + 1]) for t in range(count)],
        sizes=[SIZE] * count,
        system=3_000,
        is_trimmed=[t in trims for t in range(count)],
        is_user=[t == 0 for t in range(count)],
        survives=[t not in lost for t in range(count)],
        factor=[1.0] * count,
        risk=[(0.0,) * len(MODELS)] * count,
        seen=[0.0] * count,
        seen_risk=[(0.0,) * len(MODELS)] * count,
    )
    return Stage(session, WorldConfig(), [0] * count, 0.1)


def test_cached_written_and_fresh_tokens_have_their_own_rates() -> None:
    bill = HIGH.bill_usd(SIZE, held=5_000, factor=1.0)
    tokens = 0.1 * 5_000 + 1.25 * 3_000 + 2_000
    assert bill == pytest.approx((3.0 * tokens + 15.0 * 100) / 1e6)
    assert HIGH.bill_usd(SIZE, 99_000, 0.5) == pytest.approx(
        0.5 * (3.0 * (800 + 2_000) + 1_500) / 1e6
    )


@given(
    st.sampled_from(MODELS),
    st.integers(1_000, 200_000),
    st.integers(0, 100),
    st.integers(0, 100),
    st.integers(0, 5_000),
)
def test_what_the_planner_reckons_is_what_is_billed_when_it_knows_the_cache(
    model: SimModel, tokens: int, cacheable: int, held: int, output: int
) -> None:
    prefix = tokens * cacheable // 100
    hit = prefix * held // 100
    row = PriceRow(Binding(model.name, "p"), list_price(model))
    side = side_price(row.binding, (row,), {}, tokens, Economics.VALUE)
    assert side is not None
    reckoned = warm_usd(side, tokens, prefix, output) + premium_usd(side, tokens, prefix - hit)
    assert reckoned == pytest.approx(model.bill_usd(ActionSize(tokens, prefix, output), hit, 1.0))


@given(
    st.sampled_from(MODELS),
    st.floats(1, 200_000),
    st.floats(0, 1),
    st.floats(0, 200_000),
    st.floats(0, 16_000),
    st.sampled_from([1.0, 0.5, 0.25, 0.0]),
)
def test_a_bill_is_what_the_ledger_books_for_the_usage(
    model: SimModel, tokens: float, cacheable: float, held: float, output: float, factor: float
) -> None:
    size = ActionSize(tokens, tokens * cacheable, output)
    usage = usage_of(size, held)
    assert prompt_tokens(usage) == round(tokens)
    listed = list_price(model)
    price = Price(listed.input_usd_per_mtok, listed.output_usd_per_mtok, model.read, model.write)
    parts = sum(astuple(cost_of(usage, price)))
    assert model.bill_usd(size, held, factor) == factor * parts / 1e18


def test_caches_die_at_their_lifetime_shrink_when_cut_and_may_be_lost_when_left() -> None:
    played = stage([0, 299, 1, 300], trims=(2,), lost=(2,))
    caches = Caches(played)
    caches.use(0, 0, 8_000)
    caches.advance(1)
    assert caches.held(0, 1) == 8_000
    caches.use(0, 1, 8_000)
    caches.advance(2)
    assert caches.held(0, 2) == 3_000
    caches.use(1, 2, 8_000)
    caches.advance(3)
    assert (caches.held(0, 3), caches.held(1, 3)) == (0, 0)


def test_a_summary_stands_in_for_the_history_until_the_client_cuts_it() -> None:
    played = stage([0, 1, 1, 1], trims=(3,))
    history = History(played.session)
    history.advance(1)
    assert history.size(1) == SIZE
    assert not history.is_risky(1)
    history.shorten(1)
    system = 3_000 * 10_000 / 8_000
    assert history.size(1).tokens == pytest.approx(system + 800)
    assert history.size(1).cacheable == pytest.approx(0.8 * (system + 800))
    history.advance(2)
    assert history.size(2).tokens == pytest.approx(system + 800)
    assert history.is_risky(10)
    assert not history.is_risky(11)
    history.advance(3)
    assert history.size(3) == SIZE


def test_a_summary_costs_one_call_of_a_middle_model() -> None:
    assert summary_usd(MODELS, 150_000) == pytest.approx(0.154)


def counted(played: Stage, models: list[int]) -> tuple[int, int, int]:
    steps = Steps(played)
    for t, model in enumerate(models):
        steps.take(model, t)
    return steps.switches, steps.ping_pongs, steps.mid_loop


def test_coming_back_soon_is_a_ping_pong_unless_the_cache_went_cold() -> None:
    assert counted(stage([0, 1, 1, 1]), [0, 1, 1, 0]) == (2, 1, 2)
    assert counted(stage([0, 1, 900, 1]), [0, 1, 1, 0]) == (2, 0, 2)
    assert counted(stage([0, 1, 1, 1]), [0, 1, 2, 0]) == (3, 0, 3)
    assert counted(stage([0] + [1] * 7), [0, 1, 1, 1, 1, 1, 1, 0]) == (2, 0, 2)


def test_risk_rises_with_need_and_falls_with_skill() -> None:
    risks = [model.risk(0.6) for model in MODELS]
    assert risks == sorted(risks, reverse=True)
    assert HIGH.risk(HIGH.skill) == 0.5
    assert HIGH.risk(1e9) == pytest.approx(1.0)


def test_results_add_up_and_their_interval_holds_the_ratio() -> None:
    bound = Result(tuple(Account(cost_usd=1.0 + n % 3) for n in range(60)), 0.1)
    own = Result(tuple(Account(cost_usd=1.2 + n % 3, under_served=1) for n in range(60)), 0.1)
    low, high = own.interval(bound)
    assert own.ratio(bound) == pytest.approx(2.3 / 2.0)
    assert low < own.ratio(bound) < high
    assert own.interval(own) == (1.0, 1.0)
    assert own.sum.under_served == 60


def test_the_drawing_has_a_cross_over_both_intervals_of_each_rule() -> None:
    accounts = tuple(Account(cost_usd=1.0 + n % 3, under_served=n % 2) for n in range(60))
    result = Result(accounts, 0.1)
    low, high = result.cost_interval_usd
    assert low < 2.0 < high
    low, high = result.under_served_interval_usd
    assert low < 0.05 < high
    drawing = plot({VALUE: result, BOUND: result})
    assert drawing.count("<polyline") == 2
    assert drawing == plot({VALUE: result, BOUND: result})
    assert f">{VALUE}</text>" in drawing


def test_goals_are_upper_limits() -> None:
    assert Goal("x", 1.1, 1.1, 1.0).is_met
    assert not Goal("x", 1.11, 1.1, 1.0).is_met


def test_a_fixed_path_is_served_as_it_is() -> None:
    assert [Fixed([2, 0]).choose(t) for t in (0, 1)] == [Choice(2), Choice(0)]
