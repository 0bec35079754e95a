"""Which conversation an action belongs to, as keys that carry nothing readable. Pure.

A key is 16 bytes of SHA-256 over length-prefixed parts: whose credential it is, the client's
session, the user's id, and what was said first. Instructions are left out (programs rewrite them on
every action), unless nothing else is there.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.turns import texts
from gateway.turns.client import identifier
from services.domain.vocab import ModelTier, WireFamily
from services.domain.wire.reading import mapping, peek, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway.turns import Client
    from services.domain.wire.model import Request

KEY_BYTES = 16
LABEL_DIGITS = 16
MAX_BODY_SESSION_BYTES = 64
ZERO_KEY = bytes(KEY_BYTES)

SESSION_HEADERS = (
    "x-claude-code-session-id",
    "session-id",
    "thread-id",
    "session_id",
    "x-session-id",
)
"""Headers that carry a client's session, most telling first."""

_MEMBERS = ("session_id", "sessionId", "conversation_id", "conversationId")
_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_MARKED_UUID = re.compile(rf"session[^0-9a-fA-F]{{0,8}}({_UUID})", re.IGNORECASE)
_TRAILING_UUID = re.compile(rf"({_UUID})$")

_DEFAULT_ROLE = "default"
_TIER_ROLES: Mapping[ModelTier, str] = {
    ModelTier.LOW: "default_low",
    ModelTier.MID: "default_mid",
    ModelTier.HIGH: "default_high",
    ModelTier.TOP: "default_top",
}


@dataclass(frozen=True, slots=True)
class SessionKeys:
    """The keys of one action."""

    thread: bytes
    """One history: the main loop, or one sub-agent."""
    conversation: bytes
    """All threads of one client session; the thread where the client names no session."""
    is_session_named: bool = False
    """Whether the client names its session."""


def session_keys_of(
    request: Request | None, headers: Mapping[str, str], client: Client, credential_id: str
) -> SessionKeys:
    """Return the keys of an action.

    ``credential_id`` is the id of the router key, or of the managed credential that stands in for
    it. ``request`` is the body as it came in; None: there is none.
    """
    session = _header_session(headers)
    user = ""
    if not session and request is not None:
        session, user = _body_session(request)
    discriminator = _discriminator(request, session, user)
    thread = derive_key(credential_id, session, user, discriminator, client.agent_id)
    if not session:
        return SessionKeys(thread, thread)
    conversation = _digest("conversation-key/1", credential_id, session, user)
    return SessionKeys(thread, conversation, is_session_named=True)


def derive_key(
    credential_id: str, session: str, user: str, discriminator: str, agent_id: str = ""
) -> bytes:
    """Return the thread key of its parts; an agent's id, where known, is one part more."""
    parts = (credential_id, session, user, discriminator)
    return _digest("session-key/1", *parts, *((agent_id,) if agent_id else ()))


def derive_answer_key(credential_id: str, answer_id: str) -> bytes:
    """Return the key of one answer that a provider keeps, for clients that name no session."""
    return _digest("answer-key/1", credential_id, answer_id)


def role_of(tier: ModelTier) -> str:
    """Return the sub-row of a session for requests of one tier; unlike traffic shares no pin."""
    return _TIER_ROLES.get(tier, _DEFAULT_ROLE)


def next_role(role: str) -> str:
    """Return the sub-row of a pin that holds for exactly one more action."""
    return f"{role}_cmd_next"


def log_label(key: bytes) -> str:
    """Return as much of a key as logs may show."""
    return key.hex()[:LABEL_DIGITS]


def affinity_hint(key: bytes) -> str:
    """Return what upstream caches may route by; empty for no key."""
    return "" if key in (b"", ZERO_KEY) else key.hex()


def _digest(tag: str, *parts: str) -> bytes:
    told = b"".join([texts.length_prefixed(texts.encoded(part)) for part in (tag, *parts)])
    return hashlib.sha256(told).digest()[:KEY_BYTES]


def _header_session(headers: Mapping[str, str]) -> str:
    for name in SESSION_HEADERS:
        session = identifier(headers.get(name, ""))
        if session:
            return session
    return ""


def _body_session(request: Request) -> tuple[str, str]:
    """Return the session that the body names, else the user's id as it is."""
    user = ""
    for value in _body_values(request):
        session = _reduced(value)
        if session:
            return session, ""
        user = user or identifier(value)
    return "", user


def _body_values(request: Request) -> Iterator[str]:
    yield request.user
    if request.family is WireFamily.ANTHROPIC:
        return
    members = dict(request.extras)
    yield text(mapping(_loaded(members.get("metadata"))).get("user_id"))
    if request.family is WireFamily.OPENAI_RESPONSES:
        yield text(_loaded(members.get("prompt_cache_key")))


def _reduced(value: str) -> str:
    """Return the session inside an id that clients build of several parts; empty: none."""
    value = value.strip()
    if value.startswith("{"):
        parsed = mapping(_loaded(texts.encoded(value)))
        if parsed:
            named = (identifier(text(parsed.get(member))) for member in _MEMBERS)
            return next((session for session in named if session), "")
    found = _MARKED_UUID.search(value) or _TRAILING_UUID.search(value)
    if found:
        return found.group(1)
    cut = texts.encoded(identifier(value))[:MAX_BODY_SESSION_BYTES]
    return cut.decode("utf-8", "ignore")


def _discriminator(request: Request | None, session: str, user: str) -> str:
    if request is None:
        return ""
    said = texts.opening_text(request) if session or user else texts.thread_digest(request)
    if said or session:
        return said
    return texts.system_text(request)


def _loaded(raw: bytes | None) -> object:
    return None if raw is None else peek(raw)
