"""What the answer of a token endpoint means, and when it is asked again."""

from __future__ import annotations

import base64
from email.utils import formatdate

import orjson
import pytest

from services.credentials.model import Minted, NotMinted, Secrets, TokenReply
from services.credentials.policy.refresh import after_failure, answer_of
from tests.unit.credentials.cases import NOW, credential


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


@pytest.mark.spec("CRD-143")
@pytest.mark.parametrize(
    ("told", "pause_s"),
    [
        ("", 60),
        ("7", 60),
        ("90.5", 90.5),
        (formatdate(NOW + 90, usegmt=True), 90),
        (formatdate(NOW - 90, usegmt=True), 60),
        ("86400", 3_600),
        ("-1", 60),
        ("soon", 60),
        ("1e999", 60),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_an_endpoint_is_left_alone_for_as_long_as_it_says_up_to_an_hour(
    status: int, told: str, pause_s: float
) -> None:
    answer = answer_of(TokenReply(status, retry_after=told), NOW)
    assert isinstance(answer, NotMinted)
    step = after_failure(credential("a"), Secrets(), answer.wait_s, NOW)
    assert step.credential.refresh_retry_unix_s == NOW + pause_s
