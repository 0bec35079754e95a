"""A challenge page closes a way out for a while, for whoever uses it, and is no one's fault."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.credentials.model import EndKind, Phase, Report, Secrets, Verdict
from services.credentials.policy.denial import denial_of
from services.credentials.policy.evidence import observe
from services.credentials.server.paths import Paths
from services.domain.errors import Reason
from tests.fakes.clock import FakeClock
from tests.unit.credentials.cases import RULES, Turns, credential, report

PROXIES = {"far": "http://proxy.test:1"}
NEAR, ALSO_NEAR, FAR = credential("near"), credential("also-near"), credential("far")
ELSEWHERE = credential("else", provider="q")
OWN_ADDRESS = credential("own", base_url="https://own.test")
EVERYBODY = (NEAR, ALSO_NEAR, FAR, ELSEWHERE, OWN_ADDRESS)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def paths(clock: FakeClock) -> Paths:
    return Paths(lambda name: Secrets(proxy_url=PROXIES.get(name, "")), clock)


def page(clock: FakeClock, *, sent_ago_s: float = 0.0) -> Report:
    return report(
        403,
        phase=Phase.ENDED,
        end_kind=EndKind.FAILED,
        is_challenge_page=True,
        send_unix_s=clock.now_unix_s() - sent_ago_s,
    )


def answer(clock: FakeClock, *, sent_ago_s: float = 0.0) -> Report:
    return report(200, send_unix_s=clock.now_unix_s() - sent_ago_s)


@pytest.mark.spec("CRD-88")
def test_whoever_shares_the_way_is_kept_off_it_and_nobody_else(
    paths: Paths, clock: FakeClock
) -> None:
    assert not paths.closed(EVERYBODY)
    paths.observe(NEAR, page(clock))
    until = clock.now_unix_s() + 30
    assert paths.closed(EVERYBODY) == {"near": until, "also-near": until}
    step = observe(NEAR, page(clock), {}, RULES, clock.now_unix_s())
    assert step.credential is NEAR


@pytest.mark.spec("CRD-88")
def test_it_stays_closed_for_longer_each_time_and_10_minutes_at_most(
    paths: Paths, clock: FakeClock
) -> None:
    lengths = []
    for _ in range(12):
        paths.observe(NEAR, page(clock))
        paths.observe(NEAR, page(clock))  # one of the same crowd
        length = paths.closed([NEAR])["near"] - clock.now_unix_s()
        lengths.append(length)
        clock.advance(length)
        assert not paths.closed([NEAR])
        paths.observe(NEAR, page(clock, sent_ago_s=length + 1))  # sent before it was closed
        assert not paths.closed([NEAR])
    assert lengths == [30, 60, 120, 240, 480, *[600] * 7]


@pytest.mark.spec("CRD-88")
def test_an_answer_through_it_opens_it_and_starts_anew(paths: Paths, clock: FakeClock) -> None:
    paths.observe(NEAR, page(clock))
    clock.advance(10)
    paths.observe(ALSO_NEAR, answer(clock, sent_ago_s=11))
    assert paths.closed([NEAR])
    paths.observe(FAR, answer(clock))
    assert paths.closed([NEAR])
    paths.observe(NEAR, replace(answer(clock), phase=Phase.ENDED, end_kind=EndKind.EMPTY_STREAM))
    assert paths.closed([NEAR])
    paths.observe(ALSO_NEAR, answer(clock))
    assert not paths.closed([NEAR])
    paths.observe(NEAR, page(clock))
    assert paths.closed([NEAR]) == {"near": clock.now_unix_s() + 30}


@pytest.mark.spec("CRD-88", "CRD-110", "CRD-163")
def test_another_way_serves_and_without_one_the_wait_is_told(
    paths: Paths, clock: FakeClock
) -> None:
    paths.observe(NEAR, page(clock))
    now = clock.now_unix_s()
    pool = (NEAR, ALSO_NEAR, FAR)
    picked = {Turns(*pool).picked(now=now, closed=paths.closed(pool)) for _ in range(3)}
    assert picked == {"far"}
    clock.advance(10.5)
    now += 10.5
    denied = Turns(NEAR, ALSO_NEAR).decide(now=now, closed=paths.closed(pool))
    assert {one.verdict for one in denied.barred} == {Verdict.EDGE}
    denial = denial_of([denied], now)
    assert (denial.reason, denial.retry_after_s) == (Reason.ALL_CREDENTIALS_COOLING, 20)
