"""The configuration of the deployments under test: two providers at one fake, a few models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ROUTER_KEY = "rk_endtoendendtoendendtoendendtoend"
ENCRYPTION_KEY = "5e" * 32

MESSAGES = "plain-messages"
"""Served by a provider that speaks Messages."""
CHAT = "plain-chat"
"""Served by a provider that speaks Chat Completions."""
TWIN = "twin"
"""Served by both, Messages first."""
UNKEYED = "unkeyed"
"""Bound to a provider that has no key."""

UPSTREAM_MESSAGES = "messages-upstream"
UPSTREAM_CHAT = "chat-upstream"

_BOUND: Mapping[str, tuple[tuple[str, str], ...]] = {
    MESSAGES: (("anthropic", UPSTREAM_MESSAGES),),
    CHAT: (("openai", UPSTREAM_CHAT),),
    TWIN: (("anthropic", UPSTREAM_MESSAGES), ("openai", UPSTREAM_CHAT)),
    UNKEYED: (("fireworks", "nobody"),),
}


@dataclass(frozen=True, slots=True)
class Wishes:
    """What one deployment has beside the plain configuration, as lines of TOML."""

    strategy: str = "requested"
    routing: str = ""
    """More keys of `[routing]`."""
    models: str = ""
    """More of the catalog."""
    gateway: str = ""
    """More keys of `[gateway]`."""
    scorer: str = ""
    """More keys of `[services.scorer]`."""
    credentials: str = ""
    """More keys of `[services.credentials]`."""
    dispatch: str = ""
    """More keys of `[services.dispatch]`."""
    tables: str = ""
    """More tables."""
    environment: Mapping[str, str] = field(default_factory=dict)
    anthropic_key: str = "key-of-anthropic"
    openai_key: str = "key-of-openai"
    encryption_key: str = ENCRYPTION_KEY
    log_level: str = "info"


def catalog() -> str:
    """Return the catalog file."""
    return "\n".join(_model(name, bound) for name, bound in _BOUND.items())


def configuration(
    wishes: Wishes, upstream_url: str, databases: tuple[str, str], ports: Mapping[str, int]
) -> str:
    """Return the configuration file.

    `databases` are the URLs of gateway and credentials. `ports` are those of services that run
    apart, by short name.
    """
    return f"""
[gateway]
listen = "127.0.0.1:0"
ops_listen = "127.0.0.1:0"
rpc_listen = "127.0.0.1:0"
database = "{databases[0]}"
lame_duck_seconds = 0
drain_seconds = 20
{wishes.gateway}
[routing]
strategy = "{wishes.strategy}"
{wishes.routing}
[log]
level = "{wishes.log_level}"
format = "json"

[catalog]
extend = ["catalog.toml"]

[providers.anthropic]
base_url = "{upstream_url}"
api_key = "{wishes.anthropic_key}"

[providers.openai]
base_url = "{upstream_url}/v1"
api_key = "{wishes.openai_key}"

[services.scorer]
{_addresses(ports, "scorer")}{wishes.scorer}
[services.planner]
{_addresses(ports, "planner")}
[services.handover]
{_addresses(ports, "handover")}
[services.credentials]
database = "{databases[1]}"
encryption_keys = ["{wishes.encryption_key}"]
{_addresses(ports, "credentials")}{wishes.credentials}
[services.dispatch]
{_addresses(ports, "dispatch")}{wishes.dispatch}
{wishes.tables}
"""


def _model(name: str, bound: tuple[tuple[str, str], ...]) -> str:
    bindings = "".join(
        f"""
[[models.bindings]]
provider = "{provider}"
upstream_id = "{upstream_id}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
"""
        for provider, upstream_id in bound
    )
    return f"""
[[models]]
id = "{name}"
tier = "mid"
context_window = 200000
max_output_tokens = 32000
{bindings}"""


def _addresses(ports: Mapping[str, int], name: str) -> str:
    if name not in ports:
        return ""
    return f"""listen = "127.0.0.1:{ports[name]}"
ops_listen = "127.0.0.1:0"
target = "dns:///127.0.0.1:{ports[name]}"
lame_duck_seconds = 0
drain_seconds = 20
"""
