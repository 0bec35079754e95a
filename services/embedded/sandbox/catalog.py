"""How the sandbox looks to the services: a provider for each dialect, and two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.embedded.sandbox.server import MODELS
from services.runtime.settings import ProviderSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

MESSAGES_PROVIDER = "sandbox"
CHAT_PROVIDER = "sandbox-chat"
RESPONSES_PROVIDER = "sandbox-responses"
GEMINI_PROVIDER = "sandbox-gemini"

_ORDERS = {
    "sandbox-large": (MESSAGES_PROVIDER, RESPONSES_PROVIDER, CHAT_PROVIDER, GEMINI_PROVIDER),
    "sandbox-small": (CHAT_PROVIDER, GEMINI_PROVIDER, MESSAGES_PROVIDER, RESPONSES_PROVIDER),
}


def providers(url: str) -> dict[str, ProviderSettings]:
    """Return the providers of a sandbox that listens at ``url``; they take no key."""
    return {
        MESSAGES_PROVIDER: _provider(WireFamily.ANTHROPIC, url),
        CHAT_PROVIDER: _provider(WireFamily.OPENAI_CHAT, f"{url}/v1"),
        RESPONSES_PROVIDER: _provider(WireFamily.OPENAI_RESPONSES, f"{url}/v1"),
        GEMINI_PROVIDER: _provider(WireFamily.GEMINI, url),
    }


def _provider(family: WireFamily, base_url: str) -> ProviderSettings:
    return ProviderSettings(family=family, base_url=base_url, takes_presented=False)


def document() -> Mapping[str, object]:
    """Return the catalog document of the sandbox's models; they cost nothing."""
    return {"models": [_model(name) for name in MODELS]}


def _model(name: str) -> dict[str, object]:
    return {
        "id": name,
        "tier": "mid" if name == "sandbox-large" else "low",
        "context_window": 200_000,
        "max_output_tokens": 8_192,
        "source": "local and free: the sandbox provider",
        "bindings": [
            {"provider": provider, "input_usd_per_mtok": 0.0, "output_usd_per_mtok": 0.0}
            for provider in _ORDERS[name]
        ],
    }
