"""The configuration of the product under test: a canned provider in all dialects, a few models."""

from __future__ import annotations

from collections.abc import Mapping

from tests.bench.shapes import BURST_MODEL, PACED_MODEL, Dialect


def catalog() -> str:
    """Return the models that are asked for by name."""
    return "".join(
        _model(dialect, pace, upstream_id)
        for dialect in Dialect
        for pace, upstream_id in (("burst", BURST_MODEL), ("paced", PACED_MODEL))
    )


def configuration(
    ports: Mapping[str, tuple[int, int]],
    provider_port: int,
    databases: tuple[str, str],
    encryption_key: str,
    *,
    strategy: str = "requested",
) -> str:
    """Return the configuration file.

    `ports` are those of the gateway and of services that run apart, by short name: where it listens
    and where it shows its state. `databases` are the URLs of gateway and credentials.
    """
    gateway, gateway_ops = ports["gateway"]
    return f"""
[gateway]
listen = "127.0.0.1:{gateway}"
ops_listen = "127.0.0.1:{gateway_ops}"
rpc_listen = ""
lame_duck_seconds = 0
database = "{databases[0]}"

[routing]
strategy = "{strategy}"
score_tool_results = false

{"".join(_provider(dialect, provider_port) for dialect in Dialect)}
[catalog]
extend = ["catalog.toml"]

[services.scorer]
risk_price_usd = 1.0
{_addresses(ports, "scorer")}
[services.planner]
threshold_usd = 1000.0
risk_price_usd = 1.0
{_addresses(ports, "planner")}
[services.handover]
{_addresses(ports, "handover")}
[services.credentials]
database = "{databases[1]}"
encryption_keys = ["{encryption_key}"]
{_addresses(ports, "credentials")}
[services.dispatch]
{_addresses(ports, "dispatch")}
"""


def _provider(dialect: Dialect, port: int) -> str:
    family, base = _SPOKEN[dialect]
    return f"""
[providers.canned-{dialect}]
family = "{family}"
base_url = "http://127.0.0.1:{port}{base}"
api_key = "x"
"""


_SPOKEN: Mapping[Dialect, tuple[str, str]] = {
    Dialect.MESSAGES: ("anthropic", ""),
    Dialect.CHAT: ("openai_chat", "/v1"),
    Dialect.RESPONSES: ("openai_responses", "/v1"),
    Dialect.GEMINI: ("gemini", ""),
}
"""The family of each dialect, and how the path of its providers begins."""


def _model(dialect: str, pace: str, upstream_id: str) -> str:
    return f"""
[[models]]
id = "{dialect}-{pace}"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "canned-{dialect}"
upstream_id = "{upstream_id}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 1.0
"""


def _addresses(ports: Mapping[str, tuple[int, int]], name: str) -> str:
    if name not in ports:
        return ""
    port, ops_port = ports[name]
    return f"""listen = "127.0.0.1:{port}"
ops_listen = "127.0.0.1:{ops_port}"
target = "dns:///127.0.0.1:{port}"
lame_duck_seconds = 0
"""
