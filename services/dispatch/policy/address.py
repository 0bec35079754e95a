"""Where each call of each dialect goes, below a provider's base address."""

from __future__ import annotations

from services.domain.vocab import WireFamily

_VERSIONS = {WireFamily.ANTHROPIC: "/v1", WireFamily.GEMINI: "/v1beta"}
_ANSWER_PATHS = {
    WireFamily.ANTHROPIC: "/messages",
    WireFamily.OPENAI_CHAT: "/chat/completions",
    WireFamily.OPENAI_RESPONSES: "/responses",
}


def answer_url(base_url: str, family: WireFamily) -> str | None:
    """Return where answers are asked for; None for a dialect that is asked otherwise."""
    path = _ANSWER_PATHS.get(family)
    return None if path is None else root_url(base_url, family) + path


def count_url(base_url: str) -> str:
    """Return where a Messages provider counts tokens."""
    return root_url(base_url, WireFamily.ANTHROPIC) + "/messages/count_tokens"


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
