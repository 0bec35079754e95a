"""Which headers go where: upwards, to the client, and into reports about quota."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.model.enums import AuthScheme
from services.domain.dates import http_date
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.dispatch.model.access import Auth
    from services.dispatch.model.plan import HeaderPairs

USER_AGENT = "pointsman/0.1"
ANTHROPIC_VERSION = "2023-06-01"
"""Sent where the client names none."""
CLAUDE_OAUTH_BETA = "oauth-2025-04-20"
"""Goes with a Claude plan's token and with nothing else."""

REQUEST_ID_HEADERS = ("request-id", "x-request-id", "x-goog-request-id")
MAX_REPORTED_HEADERS = 64
MAX_REQUEST_ID_CHARS = 128
MAX_RETRY_AFTER_S = 366 * 86_400.0
"""Longest wait that is told; no message could hold any that an upstream might name."""

_CLIENT_ALLOWED = frozenset(
    {"content-type", *REQUEST_ID_HEADERS, "retry-after", "retry-after-ms", "openai-processing-ms"}
)
_AFFINITY_HEADERS = {"openrouter": "x-session-id", "xai": "x-grok-conv-id"}
_LIMIT_PREFIXES = ("anthropic-ratelimit-", "x-ratelimit-", "x-codex-")
_TIME_HEADERS = frozenset({"retry-after", "retry-after-ms", "date"})


def value_of(headers: HeaderPairs, name: str) -> str:
    """Return the first value of a header, named in lower case; empty when it is absent."""
    for key, value in headers:
        if key == name:
            return value
    return ""


def request_id_of(headers: HeaderPairs) -> str:
    """Return the id that the upstream gave the request; empty when it gave none."""
    for name in REQUEST_ID_HEADERS:
        value = value_of(headers, name)
        if value:
            return value[:MAX_REQUEST_ID_CHARS]
    return ""


def for_client(headers: HeaderPairs, *, is_caller_credential: bool) -> HeaderPairs:
    """Return what may go on to the client; limits only of the caller's own credential."""
    return tuple(
        (name, value)
        for name, value in headers
        if name in _CLIENT_ALLOWED or (is_caller_credential and name.startswith(_LIMIT_PREFIXES))
    )


def for_report(headers: HeaderPairs) -> HeaderPairs:
    """Return the headers about quota and time, in order, at most 64."""
    kept = [
        (name, value)
        for name, value in headers
        if name in _TIME_HEADERS or name.startswith(_LIMIT_PREFIXES)
    ]
    return tuple(kept[:MAX_REPORTED_HEADERS])


def for_upstream(
    family: WireFamily,
    auth: Auth,
    relayed: HeaderPairs,
    *,
    is_same_family: bool,
    is_stream: bool,
    betas: Sequence[str] | None = None,
) -> HeaderPairs:
    """Return all headers of one upstream request.

    Nothing of the client's travels but its Messages version and beta tokens, to that dialect from
    that dialect only; no cookies, and no agent but ours. ``betas`` are those that are left of the
    client's for this target; None: all.
    """
    accept = "text/event-stream" if is_stream else "application/json"
    pairs = [
        ("content-type", "application/json"),
        ("accept", accept),
        ("accept-encoding", "identity"),
        ("user-agent", USER_AGENT),
    ]
    if family is WireFamily.ANTHROPIC:
        told = relayed if is_same_family else ()
        pairs.append(
            ("anthropic-version", value_of(told, "anthropic-version") or ANTHROPIC_VERSION)
        )
        asked = beta_tokens(told) if betas is None else betas
        words = _joined(asked, is_plan=auth.scheme is AuthScheme.CLAUDE_OAUTH)
        if words:
            pairs.append(("anthropic-beta", words))
    pairs.extend(_auth_headers(auth))
    return tuple(pairs)


def beta_tokens(relayed: HeaderPairs) -> tuple[str, ...]:
    """Return the names of the beta features that a client asks for."""
    told = (value.split(",") for name, value in relayed if name == "anthropic-beta")
    return tuple(token.strip() for tokens in told for token in tokens if token.strip())


def affinity(
    provider: str, family: WireFamily, session: str, *, is_vendor: bool, is_gateway: bool
) -> HeaderPairs:
    """Return the header that keeps a session on one host of a compatible upstream, where known.

    The vendors have members of the body for it; a tenant's gateway is told nothing.
    """
    if not session or is_vendor or is_gateway or family is not WireFamily.OPENAI_CHAT:
        return ()
    return ((_AFFINITY_HEADERS.get(provider, "x-session-affinity"), session),)


def _joined(told: Sequence[str], *, is_plan: bool) -> str:
    """Return beta tokens, each once; the plan's only beside a plan's token."""
    tokens = dict.fromkeys(token for token in told if token != CLAUDE_OAUTH_BETA)
    if is_plan:
        tokens[CLAUDE_OAUTH_BETA] = None
    return ",".join(tokens)


def _auth_headers(auth: Auth) -> HeaderPairs:
    match auth.scheme:
        case AuthScheme.X_API_KEY:
            own: HeaderPairs = (("x-api-key", auth.secret),)
        case AuthScheme.X_GOOG_API_KEY:
            own = (("x-goog-api-key", auth.secret),)
        case AuthScheme.CUSTOM_HEADER:
            own = ((auth.header_name, auth.secret),)
        case AuthScheme.NONE:
            own = ()
        case AuthScheme.CODEX_OAUTH:
            own = (("authorization", f"Bearer {auth.secret}"),)
            if auth.account_id:
                own = (*own, ("chatgpt-account-id", auth.account_id))
        case AuthScheme.BEARER | AuthScheme.CLAUDE_OAUTH | AuthScheme.GEMINI_OAUTH:
            own = (("authorization", f"Bearer {auth.secret}"),)
    return (*own, *auth.headers)


def retry_after_s(headers: HeaderPairs, now_unix_s: float) -> float | None:
    """Return the wait in seconds that an upstream asks for; None when it names no readable one.

    ``retry-after-ms`` wins, as the finer one. A date in the past means at once.

    Source: RFC 9110 §10.2.3, delta-seconds or an HTTP date.
    """
    wait_s = _told_wait_s(headers, now_unix_s)
    return None if wait_s is None else min(wait_s, MAX_RETRY_AFTER_S)


def _told_wait_s(headers: HeaderPairs, now_unix_s: float) -> float | None:
    fine = _number(value_of(headers, "retry-after-ms"))
    if fine is not None:
        return fine / 1000
    text = value_of(headers, "retry-after").strip()
    if not text:
        return None
    seconds = _number(text)
    if seconds is not None:
        return seconds
    date = http_date(text)
    return None if date is None else max(0.0, date - now_unix_s)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
