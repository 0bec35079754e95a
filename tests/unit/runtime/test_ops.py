from __future__ import annotations

import pytest

from services.runtime.ops import OpsListener


def listener(**needs: bool) -> OpsListener:
    made = OpsListener("127.0.0.1:0")
    made.watch(lambda: needs)
    return made


def test_readiness_waits_for_the_start_and_for_every_need() -> None:
    assert OpsListener("127.0.0.1:0").readiness() == (
        False,
        {"status": "unhealthy", "needs": {"started": "down"}},
    )
    assert listener().readiness()[0]
    assert listener(store=True, catalog=False).readiness() == (
        False,
        {"status": "unhealthy", "needs": {"store": "up", "catalog": "down"}},
    )


def test_a_draining_process_is_not_ready() -> None:
    made = listener(store=True)
    made.set_draining()
    is_ready, facts = made.readiness()
    assert not is_ready
    assert facts["draining"] is True


@pytest.mark.spec("OPS-92")
def test_three_samples_of_a_lagging_loop_take_readiness_away() -> None:
    made = listener(store=True)
    for lag_s in (2.5, 2.5, 0.1, 2.5, 2.5):
        made.note_loop_lag(lag_s)
        assert made.readiness()[0]
    made.note_loop_lag(2.1)
    is_ready, facts = made.readiness()
    assert not is_ready
    assert facts["lagging"] is True
    made.note_loop_lag(0.0)
    assert made.readiness()[0]
