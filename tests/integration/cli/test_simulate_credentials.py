"""The shipped rule holds no warning past an explicit ``allowed``; simpler rules do."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from services.cli import __main__ as main
from services.cli.simulate_credentials.ledger import (
    ALLOWED,
    LONG_RUN_S,
    RESPONSES,
    WARNING,
    Answer,
    ledger,
    random_ledger,
)
from services.cli.simulate_credentials.loop import Loop
from services.cli.simulate_credentials.replay import (
    EVERY_RULE,
    aggregate_alone,
    five_hours_alone,
    naive,
    replay,
    shipped,
)
from services.cli.simulate_credentials.report import ABSENCE, MANY_ACCOUNTS
from services.credentials.model import FIVE_HOURS, OVERAGE_INCLUDED, UNIFIED_WINDOWS

SEEDS = (0, 1, 7)


def warns(answers: tuple[Answer, ...], window: str) -> list[Answer]:
    return [one for one in answers if one.own[window] == WARNING]


@pytest.mark.spec("CRD-168")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_ledger_has_the_counts_that_were_seen(seed: int) -> None:
    answers = ledger(seed)
    five, overage = warns(answers, FIVE_HOURS), warns(answers, OVERAGE_INCLUDED)
    assert len(answers) == RESPONSES == 7_788
    assert (len(five), len(overage)) == (25, 236)
    assert sum(one.aggregate == WARNING for one in answers) == 261
    assert not {id(one) for one in five} & {id(one) for one in overage}
    run = [one for one in answers if one.is_of_long_run]
    assert run[-1].at_unix_s - run[0].at_unix_s == LONG_RUN_S == 3 * 3_600 + 43 * 60
    assert {one.own[FIVE_HOURS] for one in run} == {ALLOWED}
    times = [one.at_unix_s for one in answers]
    assert times == sorted(times)
    assert ledger(seed) == answers


@pytest.mark.spec("CRD-169", "CRD-170", "CRD-171")
@pytest.mark.parametrize("seed", SEEDS)
def test_the_shipped_rule_holds_nothing_and_the_naive_one_twelve_times(seed: int) -> None:
    answers = ledger(seed)
    right, wrong = replay(answers, shipped), replay(answers, naive)
    assert right.held_s == []
    assert (len(wrong.held_s), max(wrong.held_s)) == (12, 288)
    assert right.set_by_window == wrong.set_by_window
    assert (right.unfounded, right.overdue) == (0, 0)


@pytest.mark.spec("CRD-172")
def test_in_the_long_run_only_the_window_itself_tells() -> None:
    run = tuple(one for one in ledger(0) if one.is_of_long_run)
    assert replay(run, five_hours_alone).set_by_window == {}
    assert replay(run, aggregate_alone).set_by_window == {}
    assert replay(run, shipped).set_by_window == {OVERAGE_INCLUDED: 1}


@pytest.mark.spec("CRD-173")
def test_over_200_seeds_with_missing_headers_no_mark_is_held_unfounded_or_overdue() -> None:
    held = 0
    for seed in range(200):
        answers = random_ledger(seed, 60, MANY_ACCOUNTS, ABSENCE)
        outcome = replay(answers, shipped)
        assert (outcome.held_s, outcome.unfounded, outcome.overdue) == ([], 0, 0), seed
        held += len(replay(answers, naive).held_s)
    assert held > 200  # the measure sees what it is for


def test_in_any_order_the_ledger_ends_in_the_same_marks() -> None:
    answers = list(ledger(0))[-600:]
    last = replay(answers, shipped).active[-1][1]
    for seed in range(3):
        mixed = answers.copy()
        random.Random(seed).shuffle(mixed)
        assert replay(mixed, shipped).active[-1][1] == last == 0


@pytest.mark.spec("CRD-176")
@pytest.mark.parametrize("seed", SEEDS)
def test_hearing_warnings_spares_rejections_and_no_error_is_avoidable(seed: int) -> None:
    heard = Loop(seed, is_warning_heard=True).run(1_500)
    unheard = Loop(seed, is_warning_heard=False).run(1_500)
    assert (heard.errors, heard.avoidable) == (0, 0)
    assert heard.rejections < unheard.rejections
    crowded = Loop(seed, is_warning_heard=True, pause_s=20).run(1_500)
    assert crowded.errors > 0
    assert crowded.avoidable == 0


@pytest.mark.spec("CRD-177")
def test_the_command_prints_one_table_draws_the_plot_and_fails_on_a_held_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = tmp_path / "held.svg"
    arguments = ["simulate", "credentials", "--ledgers", "2", "--plot", str(drawn)]
    assert main.run([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    by_rule = {row["rule"]: row for row in told["rules"]}
    assert set(EVERY_RULE) <= set(by_rule)
    assert (by_rule["shipped"]["held"], by_rule["own_allowed_unheard"]["held"]) == (0, 12)
    assert drawn.read_text().startswith("<svg")
    monkeypatch.setitem(EVERY_RULE, "shipped", naive)
    assert main.run(arguments) != 0


def test_a_window_that_is_silent_is_neither_set_nor_held() -> None:
    silent = Answer(1_750_000_000.0, {}, "")
    outcome = replay([silent] * 3, shipped)
    assert (outcome.held_s, dict(outcome.set_by_window)) == ([], {})
    assert set(UNIFIED_WINDOWS) == set(ledger(0)[0].own)
