from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.model import Round, Session
from gateway.sessions.rounds import REPEATS, WINDOW, WITHIN_S, is_stuck, record_round
from tests.unit.gateway.sessions.made import EMPTY, NOW

SAME, OTHER = b"same", b"other"


def after(*rounds: Round) -> Session:
    session = EMPTY
    for made in rounds:
        session = record_round(session, made)
    return session


def made(digest: bytes = SAME, model_id: str = "m", *, ago_s: float = 1.0) -> Round:
    return Round(digest, model_id, "p", NOW - ago_s)


@pytest.mark.spec("TRN-87")
def test_the_fifth_of_eight_alike_leads_nowhere() -> None:
    assert not is_stuck(after(*[made()] * 3), SAME, NOW)
    assert is_stuck(after(*[made()] * 4), SAME, NOW)
    assert not is_stuck(after(*[made()] * 4), OTHER, NOW)
    between = [made(OTHER)] * 3
    assert is_stuck(after(*[made()] * 4, *between), SAME, NOW)
    assert not is_stuck(after(*[made()] * 4, *between, made(OTHER)), SAME, NOW)


@pytest.mark.spec("TRN-87")
def test_repeats_count_within_90_s_and_by_one_model_at_one_provider() -> None:
    late = [made(ago_s=WITHIN_S)]
    assert not is_stuck(after(*late, *[made()] * 3), SAME, NOW)
    assert is_stuck(after(made(ago_s=WITHIN_S - 0.001), *[made()] * 3), SAME, NOW)
    assert not is_stuck(after(*[made()] * 3, made(model_id="n")), SAME, NOW)


@pytest.mark.spec("TRN-87")
@given(st.lists(st.sampled_from([SAME, OTHER]), max_size=20))
def test_only_the_latest_rounds_are_kept_and_decide(digests: list[bytes]) -> None:
    session = after(*map(made, digests))
    assert len(session.rounds) == min(len(digests), WINDOW - 1)
    latest = digests[-(WINDOW - 1) :]
    assert is_stuck(session, SAME, NOW) == (latest.count(SAME) + 1 >= REPEATS)
