"""Transient failures are remembered for a moment, and forgotten with the next success."""

from __future__ import annotations

import pytest

from services.credentials.model import EndKind, Phase, Report
from services.credentials.server.setbacks import Setbacks
from tests.fakes.clock import FakeClock
from tests.unit.credentials.cases import report


def ended(status: int | None, kind: EndKind = EndKind.FAILED) -> Report:
    return report(status, phase=Phase.ENDED, end_kind=kind)


@pytest.mark.spec("CRD-78", "CRD-82", "CRD-83")
@pytest.mark.parametrize(
    ("one", "is_set_back"),
    [
        (report(500), True),
        (report(529), True),
        (report(408), True),
        (ended(None), True),
        (ended(200, EndKind.EMPTY_STREAM), True),
        (ended(None, EndKind.CALLER_GONE), False),
        (ended(None, EndKind.NOT_SENT), False),
        (report(503, is_challenge_page=True), False),
        (report(429), False),
        (report(400), False),
        (report(200), False),
    ],
)
def test_faults_of_the_provider_set_back(one: Report, is_set_back: bool) -> None:
    setbacks = Setbacks(60, FakeClock())
    setbacks.observe("c1", one)
    assert ("c1" in setbacks.of("m")) is is_set_back
    assert not setbacks.of("m2")


@pytest.mark.spec("CRD-82")
def test_a_setback_ends_with_its_time_or_with_a_success() -> None:
    clock = FakeClock()
    setbacks = Setbacks(60, clock)
    setbacks.observe("c1", report(500))
    setbacks.observe("c2", report(500))
    setbacks.observe("c1", report(200))
    assert set(setbacks.of("m")) == {"c2"}
    clock.advance(60)
    assert not setbacks.of("m")
    off = Setbacks(0, clock)
    off.observe("c1", report(500))
    assert not off.of("m")
