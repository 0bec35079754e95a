from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from services.runtime import log

KEYS = (
    "sk-ant-api03-AbCdEf0123456789",
    "rk_0123456789abcdef",
    "AIzaSyA0123456789abcdefghijk",
    "xai-0123456789abcdef",
    "eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl",
)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Iterator[pytest.CaptureFixture[str]]:
    log.configure("debug", "json")
    yield capsys
    structlog.reset_defaults()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    "text", ["{}", "key {} was refused", "Authorization: Bearer {}", "https://h/x?key={}&a=1"]
)
def test_keys_are_masked_wherever_they_stand(key: str, text: str) -> None:
    masked = log.masked(text.format(key))
    assert key not in masked
    assert log.MASK in masked


def test_passwords_in_addresses_are_masked() -> None:
    masked = log.masked("redis://user:hunter2secret@host:6379/0 is down")
    assert masked == f"redis://{log.MASK}@host:6379/0 is down"


@given(st.text(alphabet="abc xyz,.:/0123456789", max_size=60))
def test_plain_text_stays(text: str) -> None:
    assert log.masked(text) == text


@given(st.text(max_size=80))
def test_masking_twice_changes_nothing_more(text: str) -> None:
    assert log.masked(log.masked(text)) == log.masked(text)


def test_a_line_is_one_json_object_without_secrets(
    printed: pytest.CaptureFixture[str],
) -> None:
    nested = {"headers": [("x-api-key", KEYS[0])]}
    log.get_logger("dispatch").info(
        "attempt", value_secret="plain", reason=f"got {KEYS[1]}", nested=nested, count=3
    )
    text = printed.readouterr().out
    line = json.loads(text)
    assert (line["event"], line["service"], line["level"]) == ("attempt", "dispatch", "info")
    assert line["count"] == 3
    assert "value_secret" not in line
    assert not any(secret in text for secret in ("plain", *KEYS))


def fail() -> None:
    local = "swordfish of a local variable"
    raise ValueError(f"bad key {KEYS[0]}, {len(local)} letters")


def test_a_traceback_is_masked_and_shows_no_variables(
    printed: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ValueError, match="bad key") as caught:
        fail()
    log.get_logger("dispatch").error("rpc_defect", exc_info=caught.value)
    shown = json.loads(printed.readouterr().out)["exception"]
    assert "ValueError: bad key [masked], 29 letters" in shown
    assert shown.count("swordfish") == 0


def test_lines_below_the_threshold_are_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    log.configure("warning", "json")
    log.get_logger("dispatch").info("attempt")
    structlog.reset_defaults()
    assert capsys.readouterr().out == ""
