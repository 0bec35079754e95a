from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.patience import LEAST_S, header_wait_s


@pytest.mark.spec("DSP-180")
def test_a_stream_shows_headers_at_once_and_a_whole_answer_when_it_is_written() -> None:
    def wait_s(*, is_stream: bool, tokens: int = 0, left_s: float | None = 600.0) -> float:
        return header_wait_s(
            30.0, is_stream=is_stream, max_output_tokens=tokens, time_left_s=left_s
        )

    assert wait_s(is_stream=True, tokens=32_000) == 30.0
    assert wait_s(is_stream=False) == 90.0
    assert wait_s(is_stream=False, tokens=3_000) == 90.0
    assert wait_s(is_stream=False, tokens=8_000) == 240.0
    assert wait_s(is_stream=False, tokens=64_000) == 599.5
    assert wait_s(is_stream=False, tokens=64_000, left_s=None) == 1_920.0


@given(st.floats(0.01, 200), st.booleans(), st.integers(0, 200_000), st.floats(-5, 700))
def test_the_callers_deadline_is_never_outwaited(
    limit_s: float, is_stream: bool, tokens: int, left_s: float
) -> None:
    wait_s = header_wait_s(
        limit_s, is_stream=is_stream, max_output_tokens=tokens, time_left_s=left_s
    )
    assert wait_s >= LEAST_S
    assert wait_s <= max(LEAST_S, left_s)
