from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from services.domain.dates import http_date

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def far_from_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("far_from_utc")
@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 -0000",
        "Sun, 06 Nov 1994 03:49:37 -0500",
    ],
)
def test_a_date_is_the_same_instant_wherever_it_is_read(text: str) -> None:
    assert http_date(text) == 784_111_777.0


@pytest.mark.parametrize(
    "text", ["", "soon", "1994", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert http_date(text) is None
