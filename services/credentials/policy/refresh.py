"""When tokens of accounts are refreshed, what is asked, and what an answer means."""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import orjson

from services.credentials.model import (
    CALENDAR_END_UNIX_S,
    PLAN_KINDS,
    Credential,
    Minted,
    NotMinted,
    Secrets,
    SystemState,
    TokenReply,
    TokenRequest,
)
from services.credentials.policy.evidence import Step, blocked_by_token, cleared_by_secret
from services.credentials.policy.evidence.headers import wait_until
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from services.credentials.model import TokenClient

LEAD_S = 300.0
LEAD_RATIO = 0.1
MAX_LEAD_RATIO = 0.5
JITTER_RATIO = 0.1
"""Part of the lead over which refreshes of several accounts are spread."""
MARGIN_S = 5.0
"""A token that ends sooner than this is not sent any more."""
PAUSES_S = (60.0, 120.0, 300.0)
"""Pauses after a token endpoint that failed, the last one for ever."""
MAX_WAIT_S = 3_600.0
"""Longest pause that a token endpoint may ask for."""
STUCK_PAUSES_S = (30.0, 60.0, 120.0, 300.0)
"""Pauses after a refresh that did not move the expiry, or moved it too little to be of use."""
MAX_SPENT = 8
"""How many used refresh tokens of an account are remembered."""
_FINAL_CODES = frozenset(
    {
        "invalid_grant",
        "refresh_token_reused",
        "refresh_token_expired",
        "refresh_token_invalidated",
        "refresh_token_revoked",
    }
)
_FINAL_WORDS = ("revoked", "expired", "already been used", "reused")
_CODEX_SCOPE = "openid profile email"


def is_refreshed(credential: Credential, secrets: Secrets) -> bool:
    """Return whether the tokens of a credential are kept fresh, whatever its switch and marks."""
    is_account = credential.spec.kind in PLAN_KINDS and bool(secrets.refresh_token)
    return is_account and credential.system_state is SystemState.OK


def due_unix_s(credential: Credential, secrets: Secrets) -> float | None:
    """Return when a credential is to be refreshed; None: not by time.

    When at most 5 min or a tenth of the token's life is left, of a short life half, spread by the
    credential's id.
    """
    if not is_refreshed(credential, secrets):
        return None
    due = 0.0
    if secrets.value:
        if secrets.expire_unix_s is None:
            return None
        issued = secrets.issue_unix_s
        lead_s = LEAD_S if issued is None else _lead_s(secrets.expire_unix_s - issued)
        due = secrets.expire_unix_s - lead_s * (1 - JITTER_RATIO * _share(credential.id))
    return max(due, credential.refresh_retry_unix_s)


def is_sendable(secrets: Secrets, now_unix_s: float) -> bool:
    """Return whether an access token may go into a request now."""
    end = secrets.expire_unix_s
    return bool(secrets.value) and (end is None or end > now_unix_s + MARGIN_S)


def is_dead(credential: Credential, secrets: Secrets, now_unix_s: float) -> bool:
    """Return whether an account's token has ended and nothing can renew it."""
    return (
        credential.spec.kind in PLAN_KINDS
        and credential.system_state is SystemState.OK
        and not secrets.refresh_token
        and not is_sendable(secrets, now_unix_s)
    )


def request_of(
    kind: CredentialKind, secrets: Secrets, url: str, client: TokenClient
) -> TokenRequest:
    """Return the question for new tokens, in the form that the account's vendor takes."""
    fields = {
        "grant_type": "refresh_token",
        "refresh_token": secrets.refresh_token,
        "client_id": client.client_id,
    }
    if client.client_secret:
        fields["client_secret"] = client.client_secret
    if kind is CredentialKind.CODEX_OAUTH:
        fields["scope"] = _CODEX_SCOPE
    is_form = kind is CredentialKind.GEMINI_OAUTH
    return TokenRequest(url, fields, is_form, secrets.proxy_url)


def answer_of(reply: TokenReply, now_unix_s: float) -> Minted | NotMinted:
    """Return the new tokens, or why there are none."""
    status = reply.http_status
    if status is None:
        code = "answer_lost" if reply.is_lost else "unreachable"
        return NotMinted(code, is_final=False, is_doubtful=reply.is_lost)
    answer = _object(reply.body)
    if 200 <= status < 300:
        value = _text(answer.get("access_token"))
        if not value:
            return NotMinted("bad_answer", is_final=False, is_doubtful=True)
        return Minted(
            value=value,
            refresh_token=_text(answer.get("refresh_token")),
            id_token=_text(answer.get("id_token")),
            expire_unix_s=_end_of(answer.get("expires_in"), value, now_unix_s),
        )
    if status in (400, 401, 403) and _is_final(answer):
        return NotMinted("refused", is_final=True)
    code = "throttled" if status == 429 else "failed" if status >= 500 else "rejected"
    until = wait_until((("retry-after", reply.retry_after),), now_unix_s)
    wait_s = 0.0 if until is None else min(until - now_unix_s, MAX_WAIT_S)
    return NotMinted(code, is_final=False, wait_s=wait_s)


def renewed(secrets: Secrets, minted: Minted, now_unix_s: float) -> Secrets:
    """Return the secrets after a refresh; what was not answered stays."""
    return replace(
        secrets,
        value=minted.value,
        refresh_token=minted.refresh_token or secrets.refresh_token,
        id_token=minted.id_token or secrets.id_token,
        expire_unix_s=minted.expire_unix_s,
        issue_unix_s=now_unix_s,
    )


def after_refresh(
    credential: Credential, before: Secrets, after: Secrets, spent: str, now_unix_s: float
) -> Step:
    """Return a credential with new tokens: the refusal of the old ones is gone, quota marks stay.

    ``spent`` is the digest of a refresh token that was replaced, empty when it was not.
    """
    old_end, new_end = before.expire_unix_s, after.expire_unix_s
    digests = credential.spent_digests
    if spent:
        digests = (*(one for one in digests if one != spent), spent)[-MAX_SPENT:]
    changed = replace(
        credential,
        credential_version=credential.credential_version + 1,
        update_unix_s=now_unix_s,
        token_expire_unix_s=new_end,
        spent_digests=digests,
    )
    step = cleared_by_secret(changed, now_unix_s)
    is_moved = new_end is None or old_end is None or new_end > old_end
    if is_moved and is_sendable(after, now_unix_s):
        return step
    count = credential.refresh_count + 1
    retry = now_unix_s + STUCK_PAUSES_S[min(count, len(STUCK_PAUSES_S)) - 1]
    stuck = replace(step.credential, refresh_count=count, refresh_retry_unix_s=retry)
    return replace(step, credential=stuck)


def is_replaced_by(credential: Credential, version: int, after: Secrets) -> bool:
    """Return whether a pair that took the place of a version is newer than what is stored.

    A store that has an earlier version was restored from a backup; what was changed there by a
    person since the pair came stays.
    """
    if credential.credential_version < version:
        return (after.issue_unix_s or 0.0) >= credential.update_unix_s
    return credential.credential_version == version


def after_failure(
    credential: Credential, secrets: Secrets, wait_s: float, now_unix_s: float
) -> Step:
    """Return a credential whose refresh failed for now; without a token it rests until the next
    try, which comes no sooner than ``wait_s`` from now."""
    count = credential.refresh_count + 1
    retry = now_unix_s + max(wait_s, PAUSES_S[min(count, len(PAUSES_S)) - 1])
    changed = replace(credential, refresh_count=count, refresh_retry_unix_s=retry)
    if is_sendable(secrets, now_unix_s):
        return Step(changed, {})
    return blocked_by_token(changed, retry, now_unix_s)


def given_up(credential: Credential) -> Step:
    """Return a credential that only a person can bring back, by logging in."""
    return Step(replace(credential, system_state=SystemState.NEEDS_LOGIN), {})


def expiry_of_token(token: str) -> float | None:
    """Return when a token says that it ends; None: it does not say."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = _object(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (binascii.Error, ValueError):
        return None
    end = claims.get("exp")
    return float(end) if isinstance(end, int | float) and end > 0 else None


def _lead_s(life_s: float) -> float:
    """Return how long before its end a token of this life is renewed."""
    return min(max(LEAD_S, life_s * LEAD_RATIO), life_s * MAX_LEAD_RATIO)


def _end_of(expires_in: object, token: str, now_unix_s: float) -> float | None:
    if isinstance(expires_in, int | float) and not isinstance(expires_in, bool) and expires_in > 0:
        end: float | None = now_unix_s + float(expires_in)
    else:
        end = expiry_of_token(token)
    return end if end is not None and end < CALENDAR_END_UNIX_S else None


def _is_final(answer: dict[str, object]) -> bool:
    error = answer.get("error")
    inner = error if isinstance(error, dict) else {}
    codes = (error, inner.get("code"), inner.get("type"), answer.get("code"))
    if any(isinstance(code, str) and code in _FINAL_CODES for code in codes):
        return True
    words = (answer.get("error_description"), answer.get("message"), inner.get("message"))
    text = " ".join(word.lower() for word in words if isinstance(word, str))
    return "token" in text and any(word in text for word in _FINAL_WORDS)


def _share(credential_id: str) -> float:
    digest = hashlib.sha256(credential_id.encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def _object(body: bytes) -> dict[str, object]:
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
