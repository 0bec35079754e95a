"""Providers: built-in names, custom ones, and what is refused."""

from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from services.runtime.config import ConfigError
from services.runtime.providers import providers_of
from services.runtime.settings import CommonSettings


def common(**tables: object) -> CommonSettings:
    return CommonSettings.model_validate(tables)


def test_built_in_providers_know_family_and_address() -> None:
    providers = providers_of(common())
    assert providers["anthropic"].family is WireFamily.ANTHROPIC
    assert providers["openai"].base_url == "https://api.openai.com/v1"
    assert all(provider.is_vendor for provider in providers.values())


def test_a_built_in_provider_may_live_elsewhere() -> None:
    anthropic = providers_of(common(providers={"anthropic": {"base_url": "http://[::1]:9/"}}))
    assert anthropic["anthropic"].base_url == "http://[::1]:9"
    assert anthropic["anthropic"].is_vendor


def test_openai_speaks_two_dialects_unless_the_operator_names_one() -> None:
    both = (WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES)
    assert providers_of(common())["openai"].families == both
    for family in both:
        fixed = providers_of(common(providers={"openai": {"family": family.value}}))["openai"]
        assert fixed.families == (family,)
    assert providers_of(common())["xai"].families == (WireFamily.OPENAI_CHAT,)


def test_a_custom_provider_is_no_vendor() -> None:
    acme = {"family": "openai_chat", "base_url": "http://127.0.0.1:9000/v1"}
    provider = providers_of(common(providers={"acme": acme}))["acme"]
    assert provider.family is WireFamily.OPENAI_CHAT
    assert not provider.is_vendor


@pytest.mark.spec("DSP-19")
@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (
            {"providers": {"acme": {"base_url": "http://x"}}},
            r"s\.acme\.family: must be set",
        ),
        ({"providers": {"acme": {"family": "gemini"}}}, r"providers\.acme\.base_url: must be set"),
        ({"providers": {"openai": {"base_url": "x:1"}}}, r"providers\.openai\.base_url: must be"),
        ({"providers": {"openai": {"base_url": "http://"}}}, r"base_url: must be an http"),
        ({"providers": {"openai": {"base_url": "http://h:x"}}}, r"base_url: must be an http"),
        (
            {"credentials": [{"provider": "antropic"}]},
            r"credentials\.0\.provider: no provider 'antropic'; did you mean 'anthropic'\?",
        ),
    ],
)
def test_an_unusable_provider_is_named_with_its_key(
    tables: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        providers_of(common(**tables))
