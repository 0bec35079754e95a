"""The providers of a deployment: built-in names and custom ones, with family and address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.addresses import ADDRESS, is_http
from services.domain.catalog import PROVIDER_FAMILIES
from services.domain.vocab import WireFamily
from services.runtime import schema
from services.runtime.config import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.runtime.settings import CommonSettings, ProviderSettings

BASE_URLS: Mapping[str, str] = {
    "anthropic": "https://api.anthropic.com",
    "openai": "https://api.openai.com/v1",
    "google": "https://generativelanguage.googleapis.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "together": "https://api.together.xyz/v1",
    "xai": "https://api.x.ai/v1",
}
"""Addresses of the built-in providers."""
_DUAL = "openai"
"""The provider that answers in both of OpenAI's dialects."""


@dataclass(frozen=True, slots=True)
class Provider:
    """Where one provider is asked, and in which dialect. Its keys are kept elsewhere."""

    name: str
    family: WireFamily
    base_url: str
    """Without a slash at its end."""
    is_vendor: bool
    """Whether the name is a built-in one, whatever its address."""
    is_dual: bool = False
    """Whether it is asked on Responses or on Chat, as each turn wants."""

    @property
    def families(self) -> tuple[WireFamily, ...]:
        """Every dialect that it may be asked in, its own first."""
        return (self.family, WireFamily.OPENAI_RESPONSES) if self.is_dual else (self.family,)


def providers_of(common: CommonSettings) -> dict[str, Provider]:
    """Return every built-in and every configured provider by name.

    Raises:
        SettingError: a custom provider lacks family or address, an address is not HTTP, or a
            credential names a provider that is not there.
    """
    names = [*BASE_URLS, *(name for name in common.providers if name not in BASE_URLS)]
    providers = {name: _provider(name, common.providers.get(name)) for name in names}
    for index, credential in enumerate(common.credentials):
        if credential.provider not in providers:
            fix = schema.hint(credential.provider, providers)
            raise SettingError(
                f"credentials.{index}.provider", f"no provider {credential.provider!r}; {fix}"
            )
    return providers


def _provider(name: str, settings: ProviderSettings | None) -> Provider:
    key = f"providers.{name}"
    family = (settings.family if settings else None) or PROVIDER_FAMILIES.get(name)
    base_url = (settings.base_url if settings else "") or BASE_URLS.get(name, "")
    if family is None or not base_url:
        missing = "family" if family is None else "base_url"
        raise SettingError(
            f"{key}.{missing}", f"must be set, for {name!r} is not a built-in provider"
        )
    if not is_http(base_url):
        raise SettingError(f"{key}.base_url", ADDRESS)
    is_fixed = settings is not None and settings.family is not None
    return Provider(
        name,
        family,
        base_url.rstrip("/"),
        is_vendor=name in BASE_URLS,
        is_dual=name == _DUAL and not is_fixed,
    )
