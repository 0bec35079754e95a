"""Where each call of each dialect goes, below a provider's base address."""

from __future__ import annotations

from urllib.parse import quote

from services.domain.vocab import WireFamily

_VERSIONS = {WireFamily.ANTHROPIC: "/v1", WireFamily.GEMINI: "/v1beta"}
_ANSWER_PATHS = {
    WireFamily.ANTHROPIC: "/messages",
    WireFamily.OPENAI_CHAT: "/chat/completions",
    WireFamily.OPENAI_RESPONSES: "/responses",
}
_COUNT_PATHS = {
    WireFamily.ANTHROPIC: "/messages/count_tokens",
    WireFamily.OPENAI_RESPONSES: "/responses/input_tokens",
}


def answer_url(
    base_url: str, family: WireFamily, *, upstream_id: str = "", is_stream: bool = False
) -> str:
    """Return where answers are asked for; one dialect names model and kind of answer there."""
    if family is WireFamily.GEMINI:
        action = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
        return _action_url(base_url, upstream_id, action)
    return root_url(base_url, family) + _ANSWER_PATHS[family]


def count_url(base_url: str, family: WireFamily, upstream_id: str = "") -> str:
    """Return where a provider counts tokens, in a dialect that has such a call."""
    if family is WireFamily.GEMINI:
        return _action_url(base_url, upstream_id, "countTokens")
    return root_url(base_url, family) + _COUNT_PATHS[family]


def _action_url(base_url: str, upstream_id: str, action: str) -> str:
    name = quote(upstream_id.removeprefix("models/"), safe=":")
    return f"{root_url(base_url, WireFamily.GEMINI)}/models/{name}:{action}"


def models_url(base_url: str, family: WireFamily) -> str:
    """Return where a provider lists its models."""
    return root_url(base_url, family) + "/models"


def root_url(base_url: str, family: WireFamily) -> str:
    """Return the base with the version that the dialect's paths start with, never doubled.

    Bases of the OpenAI dialects hold their version already.
    """
    base = base_url.rstrip("/")
    version = _VERSIONS.get(family, "")
    return base if base.endswith(version) else base + version
