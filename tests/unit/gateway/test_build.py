from __future__ import annotations

import pytest
from pydantic import SecretStr, ValidationError

from gateway.policy import policy_of
from gateway.settings import GatewaySettings, RoutingSettings
from services.domain.vocab import WireFamily
from services.runtime.config import ConfigError
from services.runtime.settings import CommonSettings, CredentialSettings, ProviderSettings
from tests.unit.gateway.facts import catalog, row

CATALOG = catalog(row("Model-A", "anthropic"), row("model-b", "anthropic"))
COMMON = CommonSettings(
    providers={
        "anthropic": ProviderSettings(api_key=SecretStr("k")),
        "openai": ProviderSettings(),
        "local": ProviderSettings(family=WireFamily.OPENAI_CHAT, base_url="http://127.0.0.1:1/v1"),
    },
    credentials=(
        CredentialSettings(provider="xai", secret=SecretStr("k")),
        CredentialSettings(provider="google", secret=SecretStr("k"), enabled=False),
    ),
)


def test_configured_are_providers_with_a_key_without_need_of_one_or_with_a_pool() -> None:
    policy = policy_of(RoutingSettings(), COMMON, CATALOG)
    assert policy.configured_providers == ("anthropic", "local", "xai")
    assert {"anthropic", "openai", "local"} <= set(policy.known_providers)
    assert policy.more_families == {"openai": (WireFamily.OPENAI_RESPONSES,)}


@pytest.mark.spec("DSP-176")
def test_keepalives_come_well_before_clients_give_up() -> None:
    assert GatewaySettings().sse_keepalive_interval_seconds < 60
    assert GatewaySettings(sse_keepalive_interval_seconds=0).sse_keepalive_interval_seconds == 0
    for seconds in (-1, 180):
        with pytest.raises(ValidationError, match="sse_keepalive_interval_seconds"):
            GatewaySettings(sse_keepalive_interval_seconds=seconds)


@pytest.mark.spec("POL-42")
def test_operator_lists_name_what_is_there() -> None:
    policy = policy_of(RoutingSettings(excluded_models=("model-a",)), COMMON, CATALOG)
    assert policy.excluded_models == {"Model-A"}
    with pytest.raises(ConfigError, match="model-b"):
        policy_of(RoutingSettings(excluded_models=("model-bb",)), COMMON, CATALOG)
    with pytest.raises(ConfigError, match="anthropic"):
        policy_of(RoutingSettings(excluded_providers=("antropic",)), COMMON, CATALOG)


@pytest.mark.parametrize(
    ("chosen", "complaint"),
    [
        ({"hard_pin_model": "model-bb"}, r"routing\.hard_pin_model: no model .*'model-b'"),
        ({"summarizer_model": "model-bb"}, r"routing\.summarizer_model: no model"),
        ({"compaction_model": "model-bb"}, r"routing\.compaction_model: no model"),
        ({"loop_escalation_model": "model-bb"}, r"routing\.loop_escalation_model: no model"),
        (
            {"sub_agent_model": "model-b", "sub_agent_provider": "antropic"},
            r"routing\.sub_agent_provider: no model-b at 'antropic'; did you mean 'anthropic'",
        ),
        (
            {"hard_pin_model": "model-b", "hard_pin_provider": "openai"},
            r"routing\.hard_pin_provider: no model-b at 'openai'; valid here: anthropic",
        ),
    ],
)
def test_models_that_the_operator_chose_are_there(chosen: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        policy_of(RoutingSettings(**chosen), COMMON, CATALOG)  # type: ignore[arg-type]  # by name


@pytest.mark.spec("TRN-28")
def test_half_a_choice_for_sub_agents_is_none() -> None:
    half = RoutingSettings(sub_agent_model="model-b")
    policy_of(half, COMMON, CATALOG)
    assert half.is_sub_agent_pair_halved
    assert half.rules.sub_agent_pin is None
    whole = RoutingSettings(sub_agent_model="model-b", sub_agent_provider="anthropic")
    assert not whole.is_sub_agent_pair_halved
    assert whole.rules.sub_agent_pin == ("model-b", "anthropic")


def test_equal_routing_has_an_equal_version() -> None:
    one = policy_of(RoutingSettings(), COMMON, CATALOG)
    other = policy_of(RoutingSettings(excluded_models=("model-b",)), COMMON, CATALOG)
    assert one.config_version == policy_of(RoutingSettings(), COMMON, CATALOG).config_version
    assert other.config_version != one.config_version
