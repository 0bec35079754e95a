"""Settings of the gateway: where it listens, what it accepts, how it streams, who it routes by.

Two tables of the configuration: ``[gateway]`` and ``[routing]``.
"""

from __future__ import annotations

import ipaddress
from typing import Self

from pydantic import Field, SecretStr, model_validator

from gateway.commands.model import CommandScope
from gateway.deciding.kinds import Rules
from gateway.keys import PREFIXES
from gateway.model.action import OverflowStyle, Scope
from gateway.model.decision import Strategy, SummaryMode
from gateway.rescues import RescueRules
from services.domain.wire.requirements import RequirementMode
from services.runtime.settings import (
    DatabaseUrl,
    ListenAddress,
    OptionalListenAddress,
    PositiveSeconds,
    Seconds,
    Section,
)

_PREFIX = PREFIXES[Scope.ROUTING]
MIN_BOOTSTRAP_CHARS = 16
MIN_OPEN_BOOTSTRAP_CHARS = 32
"""Shortest bootstrap key of a gateway that other machines can reach."""


class GatewaySettings(Section):
    """The table ``[gateway]``. Sizes in bytes of the decoded body, times in seconds."""

    listen: ListenAddress = "127.0.0.1:8080"
    """Address of the HTTP server. Port 0 takes a free one."""
    rpc_listen: OptionalListenAddress = "127.0.0.1:50050"
    """Address of RouterService (gRPC). Port 0 takes a free one; empty: it is not served."""
    ops_listen: ListenAddress = "127.0.0.1:9090"
    """Address of `/livez`, `/readyz` and `/metrics`."""
    database: DatabaseUrl = "sqlite:///~/.pointsman/pointsman.db"
    """Where installations, router keys, sessions and the ledger live; `postgresql://…` for several
    gateways."""
    ledger_journal: str = ""
    """Folder for what the database does not have yet; empty: beside an SQLite file, else
    `~/.pointsman/ledger`."""
    ledger_journal_max_bytes: int = Field(default=256 * 1024 * 1024, gt=0)
    """Size of the journal over which no action begins; it fills while the database is down."""
    admin_token: SecretStr = SecretStr("")
    """Bearer token of operators; empty: the admin API is closed."""
    allow_plaintext_secrets: bool = False
    """Whether credentials may be added from another machine without TLS: set it where a proxy in
    front ends TLS."""
    bootstrap_key: SecretStr = SecretStr("")
    """First router key, for scripts: `rk_` and at least 16 characters in all."""
    in_band_commands: CommandScope = CommandScope.HARNESS
    """Whose commands in conversations (`/force-model NAME`) are obeyed: those of recognised coding
    programs (`harness`), of every client (`all`), or nobody's (`off`)."""
    overflow_style: OverflowStyle = OverflowStyle.PLAIN
    """How a client is told that its conversation is too large for every model: `413`, or `native`,
    as its vendor would (400, and an event on Responses streams), on which some programs compact."""
    max_body_bytes: int = Field(default=32 * 1024 * 1024, gt=0)
    """Largest request body once it is decoded."""
    sse_keepalive_interval_seconds: float = Field(default=15.0, ge=0, le=120)
    """Silence after which a stream gets a keepalive frame; 0: none. At most 120: clients give up
    after 180."""
    client_write_timeout_seconds: PositiveSeconds = 60.0
    """How long a client may take nothing of what is written to it."""
    action_budget_seconds: PositiveSeconds = 600.0
    """Longest time from request to end of answer."""
    slot_wait_seconds: float = Field(default=5.0, ge=0, le=60)
    """How long an action waits in turn where all credentials that may serve it are at their limits
    of attempts at once and no other model may; 0: it is told to come back at once."""
    max_in_flight: int = Field(default=0, ge=0)
    """Most actions at once; 0: no limit."""
    drain_seconds: Seconds = 660.0
    """How long running actions may go on after the lame-duck period; 10 in one process."""
    lame_duck_seconds: Seconds = 5.0
    """How long connections are still taken after SIGTERM; 0 in one process."""

    @model_validator(mode="after")
    def _has_a_safe_bootstrap_key(self) -> Self:
        key = self.bootstrap_key.get_secret_value()
        if key and not (key.startswith(_PREFIX) and len(key) >= MIN_BOOTSTRAP_CHARS):
            raise ValueError(
                f"bootstrap_key must start with {_PREFIX} and have at least"
                f" {MIN_BOOTSTRAP_CHARS} characters"
            )
        listens = {"listen": self.listen, "rpc_listen": self.rpc_listen}
        for name, address in listens.items():
            if address and not is_loopback(address) and len(key) < MIN_OPEN_BOOTSTRAP_CHARS:
                raise ValueError(
                    f"{name} = {address!r} can be reached by other machines: set a bootstrap key"
                    f" of at least {MIN_OPEN_BOOTSTRAP_CHARS} characters (POINTSMAN_BOOTSTRAP_KEY),"
                    " or listen on 127.0.0.1"
                )
        return self


class AutomaticExclusion(Section):
    """A model that is not to be picked by itself, and why."""

    model: str = Field(min_length=1, max_length=128)
    reason: str = Field(default="", max_length=200)


class RoutingSettings(Section):
    """The table ``[routing]``: how a model is chosen, and what the operator takes away."""

    strategy: Strategy = Strategy.CLUSTER
    """Who chooses the model. `requested`: the client, by name; `cluster`: the scorer, and for a
    session the planner."""
    shadow: str = ""
    """Another strategy that decides the same actions once more and is only recorded: `cluster`
    beside `requested`. Empty: none."""
    excluded_models: tuple[str, ...] = ()
    """Catalog ids that never serve."""
    excluded_providers: tuple[str, ...] = ()
    """Providers that never serve, whoever brings a credential for them."""
    automatic_exclusions: tuple[AutomaticExclusion, ...] = ()
    """Models that serve only where they are named or nothing else is left, each as
    `{model, reason}`. Set, also to an empty list, it goes before the list of the admin API."""
    subsidies: bool = True
    """Whether a model that a subscription covers counts only a share of its price, by how much of
    the plan is used."""
    requirements: RequirementMode = RequirementMode.SHADOW
    """What counts of the needs of a request: `shadow`, media, files and native blocks, and the rest
    is reported; `enforce`, all; `off`, nothing."""
    override_reason: str = Field(default="", max_length=200)
    """Why the operator excludes; recorded with every action that it touches."""

    hard_pin_model: str = ""
    """Model of probes, titles and compactions, and of sub-agents while `hard_pin_explore` is on.
    Empty: the fastest or cheapest, and for compactions the newest of the family that served the
    session."""
    hard_pin_provider: str = "anthropic"
    """Provider of `hard_pin_model`."""
    hard_pin_explore: bool = True
    """Whether sub-agents get such a model too, without being scored."""
    sub_agent_model: str = ""
    """Model of sub-agents; only together with `sub_agent_provider`."""
    sub_agent_provider: str = ""
    """Provider of `sub_agent_model`."""
    score_tool_results: bool = True
    """Whether actions that bring tool results are scored; else they stay on the session's model."""
    planner_enabled: bool = True
    """Whether a session may switch its model; else the first decision wins while it lives."""
    subscription_passthrough: bool = False
    """Whether a conversation is served by the model that it names while a plan which the caller
    brings covers that; classifiers of Claude plans are in any case."""
    subscription_passthrough_below: float = Field(default=0.95, gt=0, le=1)
    """Use of a window from which on such a plan is spared."""
    loop_escalation: bool = False
    """Whether a session whose agent goes round in circles gets a stronger model, once; seen loops
    are logged and counted in any case."""
    loop_escalation_model: str = ""
    """That model; empty: the dearest of the highest tier that may serve."""
    loop_escalation_holdout_percent: int = Field(default=10, ge=0, le=100)
    """Share of such sessions that are left alone, to compare with."""
    handover_mode: SummaryMode = SummaryMode.PLANNED
    """When a switch puts a summary in the place of the history: `planned` (where that pays),
    `always` (then also in that of a history that its client cut, off Anthropic) or `never`."""
    compaction_pct: float = Field(default=0.85, ge=0, le=1)
    """Share of the largest window that may serve at which a conversation is compacted before it is
    routed: old tool results are cleared, then it is summarised, then trimmed. 0: never."""
    compaction_model: str = "claude-sonnet-5"
    """Model whose family writes the summary of such a conversation, its newest version first, after
    the model that serves the session. Only models that speak Messages and are above the lowest
    tier do."""
    summarizer_model: str = "claude-haiku-4-5"
    """Model that writes summaries; where it may not serve, the cheapest one above the lowest
    tier."""

    sibling_failover: bool = True
    """Whether another model answers when every provider of the chosen one fails."""
    baseline_model: str = ""
    """Model that answers for a failed one where the client names none of the catalog; empty:
    none."""
    cyber_refusal_retry: bool = True
    """Whether another vendor's model answers what OpenAI refuses for reasons of cyber security."""
    cyber_refusal_repin: bool = True
    """Whether a session leaves the vendor that refused it for reasons of policy."""
    cyber_refusal_fallback_model: str = "claude-sonnet-5"
    """Model that answers then, where the session has no runner-up of another vendor."""
    transient_rate_limit: bool = True
    """Whether a short `Retry-After` is waited for where there is nowhere else to go, and a
    throttled model rests for the session rather than being struck."""
    transient_failure: bool = False
    """Whether a model that answered 502, 503 or 504 rests as long as a throttled one, rather than
    being struck for the session."""
    overload_strikes: bool = False
    """Whether an overload (529) that another model made good is held against the model for the
    session; else only two in a row count, and against the provider."""
    rate_limit_cooldown_seconds: float = Field(default=45.0, ge=1)
    """How long a throttled model rests; then one action of the session tries it for all."""

    @property
    def rescue_rules(self) -> RescueRules:
        """The settings as rescues take them."""
        return RescueRules(
            is_sibling_on=self.sibling_failover,
            is_cyber_on=self.cyber_refusal_retry,
            cyber_model=self.cyber_refusal_fallback_model,
            baseline_model=self.baseline_model,
            is_throttle_wait_on=self.transient_rate_limit,
            is_transient_cooling_on=self.transient_failure,
            is_overload_struck=self.overload_strikes,
            is_repin_on=self.cyber_refusal_repin,
            cooldown_s=self.rate_limit_cooldown_seconds,
        )

    @property
    def is_sub_agent_pair_halved(self) -> bool:
        """Whether sub-agents have a model or a provider and not both, which counts for nothing."""
        return bool(self.sub_agent_model) != bool(self.sub_agent_provider)

    @property
    def rules(self) -> Rules:
        """The settings as deciding takes them."""
        has_pair = bool(self.sub_agent_model and self.sub_agent_provider)
        return Rules(
            strategy=self.strategy,
            hard_pin=(self.hard_pin_model, self.hard_pin_provider) if self.hard_pin_model else None,
            is_sub_agent_pinned=self.hard_pin_explore,
            sub_agent_pin=(self.sub_agent_model, self.sub_agent_provider) if has_pair else None,
            is_tool_result_scored=self.score_tool_results,
            is_planner_on=self.planner_enabled,
            passthrough_below_ratio=(
                self.subscription_passthrough_below if self.subscription_passthrough else None
            ),
            is_escalation_on=self.loop_escalation,
            escalation_model=self.loop_escalation_model,
            escalation_holdout_percent=self.loop_escalation_holdout_percent,
            summary_mode=self.handover_mode,
            summarizer_model=self.summarizer_model,
            compaction_ratio=self.compaction_pct,
            compaction_model=self.compaction_model,
        )

    @model_validator(mode="after")
    def _names_what_is_built(self) -> Self:
        if self.shadow and (self.shadow, self.strategy) != (Strategy.CLUSTER, Strategy.REQUESTED):
            raise ValueError(
                f"shadow {self.shadow!r} is no shadow of {self.strategy.value!r}: remove it, or set"
                ' shadow = "cluster" beside strategy = "requested"'
            )
        return self


def host_and_port(listen: str) -> tuple[str, int]:
    """Return the two parts of ``host:port``; an IPv6 host stands in brackets.

    Raises:
        ValueError: there is no port.
    """
    host, _, port = listen.rpartition(":")
    if not port.isdigit():
        raise ValueError(f"listen = {listen!r} must be host:port")
    return host.strip("[]"), int(port)


def is_loopback(listen: str) -> bool:
    """Return whether only this machine can reach ``listen``."""
    host, _ = host_and_port(listen)
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
