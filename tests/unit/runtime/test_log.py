from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

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


@pytest.mark.spec("CRD-153")
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


@pytest.mark.parametrize(
    "reason", ["?\u212aey=a1B2c3D4e5F6", "\udcff sk-a1B2c3D4e5F6", "BEARER\ta1B2c3D4e5F6"]
)
def test_what_is_not_plain_text_is_masked_in_lines_as_well(
    reason: str, printed: pytest.CaptureFixture[str]
) -> None:
    log.get_logger("dispatch").info("attempt", reason=reason)
    text = printed.readouterr().out
    assert "a1B2c3D4e5F6" not in text
    assert log.MASK in json.loads(text)["reason"]


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


FRAGMENTS = (
    *("sk-", "SK-", "rk_", "ra_", "rm_", "AIza", "aiza", "xai-", "eyJ", "Bearer ", "bEARER\t"),
    *("bearer\\n", "?key=", "&KEY=", "?token=", "&api_key=", "access_token=", "https://u:p@h"),
    *("://", "@", ":", "?", "&", "=", " ", "\\n", "\\", '"', "\u212aey=", "\u017f", "\u0130"),
    *("a1B2c3D4e5F6g7H8i9J0k", "abcdefgh.ijkl.mnop", "."),
)


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=12).map("".join))
def test_no_text_that_the_pattern_would_mask_passes_the_quick_look(text: str) -> None:
    slow = log._KEY_SHAPED.sub(lambda match: f"{match[1] or ''}{log.MASK}", text)
    assert log.masked(text) == slow


@given(st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=12).map("".join))
def test_no_line_that_the_pattern_would_mask_passes_without_a_sign(text: str) -> None:
    line = json.dumps({"reason": text}, separators=(",", ":"))
    assert not log._KEY_SHAPED.search(line) or any(sign in line for sign in log._SIGNS)


@pytest.mark.parametrize(
    "text",
    [
        *KEYS,
        *("sk-abcdefgh", "ra_0123456789abcdef", "rm_0123456789abcdef", "bearer abcdefgh"),
        *("Bearer\u00a0abcdefgh", "Bearer\tabcdefgh", "?key=abc", "://me:word@host"),
    ],
)
def test_a_field_that_holds_nothing_but_a_key_is_masked(
    text: str, printed: pytest.CaptureFixture[str]
) -> None:
    log.get_logger("dispatch").info("attempt", reason=text)
    assert log.MASK in json.loads(printed.readouterr().out)["reason"]


def test_a_field_may_have_any_name(printed: pytest.CaptureFixture[str]) -> None:
    log.get_logger("dispatch").info("rpc", method="Dispatch", name="n", fields=1)
    line = json.loads(printed.readouterr().out)
    assert (line["event"], line["method"], line["name"], line["fields"]) == (
        "rpc",
        "Dispatch",
        "n",
        1,
    )


def test_a_dropped_event_is_not_written(printed: pytest.CaptureFixture[str]) -> None:
    with structlog.testing.capture_logs() as lines:
        log.get_logger("dispatch").info("attempt", count=1)
    assert lines == [{"service": "dispatch", "count": 1, "event": "attempt", "log_level": "info"}]
    assert printed.readouterr().out == ""


def test_each_alternative_needs_one_of_the_quick_marks() -> None:
    for text in (*KEYS, "Bearer abcdefgh", "a?\u212aEY=x", "&toKen=x", "?api_key=x", "x://a:b@c"):
        assert log.MASK in log.masked(text), text


@pytest.mark.parametrize("escaped", [r"\n", r"\t", r"\r"])
def test_a_key_after_an_escaped_blank_is_masked(escaped: str) -> None:
    assert KEYS[0] not in log.masked(f"first line{escaped}{KEYS[0]}")
    assert "abcdefghijkl" not in log.masked(f"x{escaped}Bearer{escaped}abcdefghijkl")


@dataclass(frozen=True)
class Hiding:
    """Hides a field from its text."""

    shown: int
    hidden: str = field(repr=False)


def test_values_are_written_as_their_texts_and_odd_ones_too(
    printed: pytest.CaptureFixture[str],
) -> None:
    log.get_logger("dispatch").info(
        "odd", value=Hiding(1, "swordfish"), big=2**70, lone="\ud800", name="é", keys={1: 2}
    )
    line = json.loads(printed.readouterr().out)
    assert "Hiding(shown=1)" in line["value"]
    assert (line["big"], line["lone"], line["name"]) == (2**70, "\ud800", "é")


@pytest.mark.spec("CRD-153")
@pytest.mark.parametrize(
    "name",
    [
        "11111111-2222-4333-8444-555555555555",
        "faecc8ca",
        "req_011CQ8s7nYxq5AyJmYVfDAbx",
        "claude-sonnet-4-5-20250929",
        "accounts/fireworks/models/kimi-k2",
        "chatcmpl-9Zx1AbCdEfGhIjKlMn",
        "msg_01XFDUDYJgAACzvnptvVoYEL",
        "call_sk1dXyZ",
    ],
)
def test_ordinary_ids_are_left_alone(name: str) -> None:
    for text in (name, f"id={name}", f'{{"request_id":"{name}"}}'):
        assert log.masked(text) == text
