from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.access import NO_AUTH, Auth
from services.dispatch.model.enums import AuthScheme
from services.dispatch.model.plan import HeaderPairs
from services.dispatch.policy import headers
from services.dispatch.policy.address import answer_url, count_url, models_url
from services.domain.vocab import WireFamily

NOW = 1_750_000_000.0
KEY = Auth(AuthScheme.X_API_KEY, "sk-1")


def sent(
    family: WireFamily = WireFamily.ANTHROPIC,
    auth: Auth = KEY,
    relayed: HeaderPairs = (),
    *,
    is_same_family: bool = True,
) -> dict[str, str]:
    pairs = headers.for_upstream(
        family, auth, relayed, is_same_family=is_same_family, is_stream=True
    )
    assert len({name for name, _ in pairs}) == len(pairs)
    return dict(pairs)


@pytest.mark.parametrize(
    ("auth", "name", "value"),
    [
        (Auth(AuthScheme.X_API_KEY, "s"), "x-api-key", "s"),
        (Auth(AuthScheme.BEARER, "s"), "authorization", "Bearer s"),
        (Auth(AuthScheme.X_GOOG_API_KEY, "s"), "x-goog-api-key", "s"),
        (Auth(AuthScheme.CLAUDE_OAUTH, "s"), "authorization", "Bearer s"),
        (Auth(AuthScheme.CODEX_OAUTH, "s", "acc"), "chatgpt-account-id", "acc"),
        (Auth(AuthScheme.GEMINI_OAUTH, "s"), "authorization", "Bearer s"),
        (Auth(AuthScheme.CUSTOM_HEADER, "s", header_name="x-key"), "x-key", "s"),
        (Auth(AuthScheme.BEARER, "s", headers=(("x-team", "7"),)), "x-team", "7"),
    ],
)
def test_each_scheme_has_its_header(auth: Auth, name: str, value: str) -> None:
    assert sent(auth=auth)[name] == value


def test_every_scheme_can_be_sent_and_a_plan_never_beside_a_key() -> None:
    for scheme in AuthScheme:
        names = set(sent(auth=Auth(scheme, "s", header_name="x-own")))
        assert not {"x-api-key", "authorization"} <= names
    assert not {"x-api-key", "authorization"} & set(sent(auth=NO_AUTH))


@pytest.mark.spec("XLT-22")
def test_the_clients_version_goes_to_its_own_dialect_only_else_the_default() -> None:
    told = (("anthropic-version", "2099-01-01"), ("cookie", "c"), ("x-forwarded-for", "1"))
    assert sent(relayed=told)["anthropic-version"] == "2099-01-01"
    assert sent()["anthropic-version"] == "2023-06-01"
    assert sent(relayed=told, is_same_family=False)["anthropic-version"] == "2023-06-01"
    assert "anthropic-version" not in sent(WireFamily.OPENAI_CHAT, relayed=told)
    assert not {"cookie", "x-forwarded-for"} & set(sent(relayed=told))


def test_beta_tokens_go_once_each_and_the_plans_own_only_beside_a_plan() -> None:
    told = (("anthropic-beta", "a, b"), ("anthropic-beta", f"b,{headers.CLAUDE_OAUTH_BETA}"))
    assert sent(relayed=told)["anthropic-beta"] == "a,b"
    plan = Auth(AuthScheme.CLAUDE_OAUTH, "s")
    assert sent(auth=plan, relayed=told)["anthropic-beta"] == f"a,b,{headers.CLAUDE_OAUTH_BETA}"
    assert "anthropic-beta" not in sent(relayed=told, is_same_family=False)


def test_limit_headers_reach_the_client_only_for_its_own_credential() -> None:
    pairs = (
        ("content-type", "a"),
        ("request-id", "r"),
        ("set-cookie", "no"),
        ("anthropic-ratelimit-requests-remaining", "3"),
        ("retry-after", "2"),
    )
    public = headers.for_client(pairs, is_caller_credential=False)
    own = headers.for_client(pairs, is_caller_credential=True)
    assert [name for name, _ in public] == ["content-type", "request-id", "retry-after"]
    assert [name for name, _ in own] == [*[name for name, _ in pairs if name != "set-cookie"]]


@pytest.mark.spec("DSP-250")
def test_reports_carry_quota_and_time_only() -> None:
    pairs = tuple((f"x-ratelimit-{i}", "1") for i in range(80))
    assert len(headers.for_report((("server", "s"), ("date", "d"), *pairs))) == 64
    assert headers.for_report((("server", "s"), ("date", "d"))) == (("date", "d"),)


@pytest.mark.spec("DSP-36")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("2.5", 2.5),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        ("Sun, 15 Jun 2025 15:06:50 GMT", 10.0),
        ("Sun Jun 15 15:06:50 2025", 10.0),
        ("Sun, 15 Jun 2025 15:06:00 GMT", 0.0),
        ("1e308", headers.MAX_RETRY_AFTER_S),
        ("Fri, 31 Dec 9999 23:59:59 GMT", headers.MAX_RETRY_AFTER_S),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2026 00:00:00 +99999999999999", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, expected: float | None) -> None:
    assert headers.retry_after_s((("retry-after", value),), NOW) == expected


def test_milliseconds_win_over_seconds() -> None:
    pairs = (("retry-after", "7"), ("retry-after-ms", "1500"))
    assert headers.retry_after_s(pairs, NOW) == 1.5


@given(st.text())
def test_no_header_value_breaks_the_reading(value: str) -> None:
    wait_s = headers.retry_after_s((("retry-after", value),), NOW)
    assert wait_s is None or wait_s >= 0


@pytest.mark.parametrize(
    ("family", "base", "expected"),
    [
        (WireFamily.ANTHROPIC, "https://a.example", "https://a.example/v1/messages"),
        (WireFamily.ANTHROPIC, "https://a.example/v1/", "https://a.example/v1/messages"),
        (WireFamily.OPENAI_CHAT, "https://b.example/v1", "https://b.example/v1/chat/completions"),
        (WireFamily.OPENAI_RESPONSES, "https://b.example/v1", "https://b.example/v1/responses"),
    ],
)
def test_addresses_are_the_base_and_the_dialects_path(
    family: WireFamily, base: str, expected: str
) -> None:
    assert answer_url(base, family) == expected


@pytest.mark.parametrize("base", ["https://g.example", "https://g.example/v1beta/"])
def test_one_dialect_names_model_and_kind_of_answer_in_the_address(base: str) -> None:
    asked = answer_url(base, WireFamily.GEMINI, upstream_id="models/a b?", is_stream=True)
    root = "https://g.example/v1beta/models"
    assert asked == f"{root}/a%20b%3F:streamGenerateContent?alt=sse"
    assert answer_url(base, WireFamily.GEMINI, upstream_id="m") == f"{root}/m:generateContent"


def test_auxiliary_addresses() -> None:
    assert count_url("http://a", WireFamily.ANTHROPIC) == "http://a/v1/messages/count_tokens"
    assert (
        count_url("http://a/v1", WireFamily.OPENAI_RESPONSES)
        == "http://a/v1/responses/input_tokens"
    )
    counted = count_url("http://a", WireFamily.GEMINI, "models/m:x/y")
    assert counted == "http://a/v1beta/models/m:x%2Fy:countTokens"
    assert models_url("http://a", WireFamily.ANTHROPIC) == "http://a/v1/models"
    assert models_url("http://b/v1", WireFamily.OPENAI_CHAT) == "http://b/v1/models"


@pytest.mark.spec("XLT-23")
def test_the_betas_that_are_left_for_the_target_are_sent() -> None:
    told = (("anthropic-beta", "a, b"), ("anthropic-beta", " c,"))
    assert headers.beta_tokens(told) == ("a", "b", "c")
    pairs = headers.for_upstream(
        WireFamily.ANTHROPIC, KEY, told, is_same_family=True, is_stream=True, betas=("b",)
    )
    assert dict(pairs)["anthropic-beta"] == "b"
    plan = Auth(AuthScheme.CLAUDE_OAUTH, "s")
    pairs = headers.for_upstream(
        WireFamily.ANTHROPIC, plan, told, is_same_family=True, is_stream=True, betas=()
    )
    assert dict(pairs)["anthropic-beta"] == headers.CLAUDE_OAUTH_BETA


@pytest.mark.spec("XLT-176")
@pytest.mark.parametrize(
    ("provider", "name"),
    [("openrouter", "x-session-id"), ("xai", "x-grok-conv-id"), ("acme", "x-session-affinity")],
)
def test_a_compatible_upstream_is_told_the_session(provider: str, name: str) -> None:
    chat = WireFamily.OPENAI_CHAT
    told = headers.affinity(provider, chat, "s1", is_vendor=False, is_gateway=False)
    assert told == ((name, "s1"),)
    assert headers.affinity(provider, chat, "", is_vendor=False, is_gateway=False) == ()
    assert headers.affinity(provider, chat, "s1", is_vendor=True, is_gateway=False) == ()
    assert headers.affinity(provider, chat, "s1", is_vendor=False, is_gateway=True) == ()
    messages = WireFamily.ANTHROPIC
    assert headers.affinity(provider, messages, "s1", is_vendor=False, is_gateway=False) == ()
