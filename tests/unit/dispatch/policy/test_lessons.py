from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.lessons import GIVEN_UP, RESPONSES_API, VALIDATED, lesson_of
from services.domain.vocab import WireFamily
from services.domain.wire.model import UpstreamError

ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT
RESPONSES, GEMINI = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI
BODY = (
    b'{"model":"m","max_tokens":9,"temperature":1,"prompt_cache_key":"k",'
    b'"output_config":{"format":{"type":"json_schema"}}}'
)


def taught(
    family: WireFamily,
    status: int,
    message: str = "",
    *,
    code: str = "",
    param: str | None = None,
    body: bytes = BODY,
    given_up: frozenset[str] = frozenset(),
) -> str:
    error = UpstreamError(status, "invalid_request_error", code, message, param)
    lesson = lesson_of(family, status, error, given_up, body)
    return lesson.feature if lesson else ""


@pytest.mark.spec("DSP-62")
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, ""),
        (404, "Not Found"),
        (400, "The Responses API is not enabled for this account"),
        (403, "endpoint not allowed"),
        (400, "Unknown path /v1/responses"),
    ],
)
def test_an_endpoint_without_responses_is_asked_on_chat(status: int, message: str) -> None:
    assert taught(RESPONSES, status, message) == RESPONSES_API
    assert taught(CHAT, status, message) != RESPONSES_API


def test_a_missing_model_is_no_missing_endpoint() -> None:
    assert not taught(RESPONSES, 404, code="model_not_found")
    assert not taught(RESPONSES, 404, param="model")
    assert not taught(RESPONSES, 403, "forbidden")


@pytest.mark.spec("DSP-63")
@pytest.mark.parametrize(
    ("family", "message", "code", "param"),
    [
        (CHAT, "Unrecognized request argument supplied: prompt_cache_key", "", None),
        (CHAT, "Unknown parameter: 'prompt_cache_key'.", "unknown_parameter", "prompt_cache_key"),
        (ANTHROPIC, "prompt_cache_key: Extra inputs are not permitted", "", None),
        (CHAT, "unknown field `prompt_cache_key`, expected one of", "", None),
    ],
)
def test_an_unknown_hint_is_dropped(
    family: WireFamily, message: str, code: str, param: str | None
) -> None:
    assert taught(family, 400, message, code=code, param=param) == "prompt_cache_key"


@pytest.mark.spec("DSP-64")
def test_an_unknown_output_format_is_dropped_and_a_bad_schema_is_not() -> None:
    unknown = "output_config.format: Extra inputs are not permitted"
    assert taught(ANTHROPIC, 400, unknown) == "output_config.format"
    bad = "output_config.format.schema: unknown field 'minimum'"
    assert not taught(ANTHROPIC, 400, bad)


def test_a_limit_and_a_knob_of_other_models_are_given_up() -> None:
    limit = "Unsupported parameter: 'max_tokens' is not supported with this model."
    assert (
        taught(CHAT, 400, limit, code="unsupported_parameter", param="max_tokens") == "max_tokens"
    )
    knob = "Unsupported value: 'temperature' does not support 0.2 with this model."
    assert taught(CHAT, 400, knob, code="unsupported_value", param="temperature") == "temperature"


@pytest.mark.spec("DSP-61")
def test_a_tool_mode_that_a_model_does_not_know_is_given_up_once_and_not_kept() -> None:
    body = b'{"toolConfig":{"functionCallingConfig":{"mode":"VALIDATED"}}}'
    error = UpstreamError(400, "INVALID_ARGUMENT")
    lesson = lesson_of(GEMINI, 400, error, (), body)
    assert lesson is not None
    assert (lesson.feature, lesson.ttl_s) == (VALIDATED, 0)
    assert lesson_of(GEMINI, 400, error, (VALIDATED,), body) is None
    assert lesson_of(GEMINI, 400, error, (), b"{}") is None


@pytest.mark.parametrize(
    "message",
    [
        "messages: unknown parameter",
        "temperature must be between 0 and 1",
        "prompt is too long",
        "tools.0: Extra inputs are not permitted",
    ],
)
def test_what_the_request_is_about_is_never_given_up(message: str) -> None:
    assert not taught(CHAT, 400, message)


@given(
    st.sampled_from(list(WireFamily)),
    st.integers(400, 599),
    st.text(max_size=40),
    st.sampled_from(["", "unknown_parameter"]),
    st.none() | st.sampled_from(GIVEN_UP),
    st.sets(st.sampled_from((*GIVEN_UP, VALIDATED, RESPONSES_API))),
)
def test_nothing_is_given_up_twice(
    family: WireFamily,
    status: int,
    message: str,
    code: str,
    param: str | None,
    given_up: set[str],
) -> None:
    before = frozenset(given_up)
    feature = taught(family, status, message, code=code, param=param, given_up=before)
    assert feature == RESPONSES_API or feature not in before
