"""What the answer of a token endpoint means."""

from __future__ import annotations

import base64

import orjson
import pytest

from services.credentials.model import Minted, TokenReply
from services.credentials.policy.refresh import answer_of
from tests.unit.credentials.cases import NOW


def end_of(token: str = "t", **more: object) -> float | None:
    minted = answer_of(TokenReply(200, orjson.dumps({"access_token": token, **more})), NOW)
    assert isinstance(minted, Minted)
    return minted.expire_unix_s


def saying(end: object) -> str:
    claims = base64.urlsafe_b64encode(orjson.dumps({"exp": end})).decode()
    return f"head.{claims}.signature"


def test_a_token_ends_when_its_answer_says_else_when_it_says_itself() -> None:
    assert end_of(saying(NOW + 7), expires_in=60) == NOW + 60
    assert end_of(saying(NOW + 7)) == NOW + 7
    assert end_of() is None


@pytest.mark.parametrize("far", [10**13, 1e300])
def test_an_end_beyond_the_calendar_is_none(far: float) -> None:
    assert end_of(expires_in=far) is None
    assert end_of(saying(far)) is None
