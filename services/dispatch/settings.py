"""Settings of dispatch: the table ``[services.dispatch]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, IPvAnyNetwork, SecretStr

from services.dispatch.model.limits import ANY_PACE, Pace, WatchLimits
from services.dispatch.model.plan import Budget
from services.domain.vocab import WireFamily
from services.domain.wire.client_tools import CLIENT_ONLY_TOOLS, ORCHESTRATION_TOOLS
from services.domain.wire.model import HouseRules
from services.runtime.settings import PositiveSeconds, Seconds, ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB = 1024 * 1024


class DispatchSettings(ServiceSettings):
    """How long upstreams may take, and how often they are asked."""

    max_body_bytes: int = Field(default=32 * MIB, gt=0)
    """Largest client body; messages may be 1 MiB larger."""
    response_header_timeout_seconds: PositiveSeconds = 30.0
    """Longest wait for the response headers of a stream, connecting and sending included; of a
    whole answer at least three times as long."""
    openai_response_header_timeout_seconds: PositiveSeconds = 120.0
    """The same for OpenAI itself, whose reasoning may hold the headers back."""
    first_output_timeout_seconds: PositiveSeconds = 90.0
    """Longest time from the headers to the first output of a stream."""
    sse_idle_timeout_seconds: PositiveSeconds = 45.0
    """Longest time without any byte of a body."""
    responses_sse_idle_timeout_seconds: PositiveSeconds = 90.0
    """The same for the Responses dialect."""
    output_stall_timeout_seconds: PositiveSeconds = 240.0
    """Longest time without output in a stream that had some."""
    throughput_window_seconds: PositiveSeconds = 20.0
    """Time over which the pace of a stream is taken; two slow ones in a row end it."""
    throughput_min_elapsed_seconds: Seconds = 90.0
    """Age of a stream before which no pace is too slow."""
    throughput_min_deltas: int = 8
    """Fewest pieces of output in such a time, of a stream that sends any; Gemini, whose pieces are
    large, aside. 0 or less: any pace will do."""
    bookkeeping_hold_seconds: Seconds = 20.0
    """Longest time that bookkeeping events are held back. 0: the first byte commits."""
    max_attempts: int = Field(default=6, ge=1, le=6)
    """Most attempts of one action, rotations not counted."""
    pre_commit_budget_seconds: PositiveSeconds = 120.0
    """Time in which new attempts may begin; one that runs is never cut by it."""
    same_binding_retries: int = Field(default=2, ge=0, le=5)
    """Most retries in place, on a plan of one binding."""
    backoff_base_ms: int = Field(default=250, ge=0, le=10_000)
    """Wait before the first retry; it doubles, and varies by a fifth."""
    retry_budget_ms: int = Field(default=10_000, ge=0)
    """Time in which retries in place may begin."""
    max_throttle_wait_seconds: Seconds = 10.0
    """Longest Retry-After that is waited for, on a plan of one binding. 0: never."""

    client_only_tools: tuple[str, ...] = tuple(sorted(CLIENT_ONLY_TOOLS))
    """Tools of a Messages coding client that other vendors' models are not offered, where at least
    three of them are declared (all, of fewer)."""
    keep_orchestration_tools: bool = False
    """Whether they are offered those of them that start, steer and list pieces of work."""
    user_hash_key: SecretStr = SecretStr("")
    """Key of the hash under which other vendors see who a client's user is. Empty: they do not."""
    auto_cache: bool = False
    """Whether cache breakpoints are added to Messages requests that have room for them."""
    openai_responses_broad: bool = True
    """Whether OpenAI is asked on Responses for every turn that can be said there, not only where a
    reasoning model is to call functions."""
    fast_models: tuple[str, ...] = ()
    """Models that are asked for on their vendor's fast tier, at its price, where the binding has
    one."""
    tenant_networks: tuple[IPvAnyNetwork, ...] = ()
    """Networks that are not public and that a tenant's own endpoints may be in all the same."""

    def rules(self) -> HouseRules:
        """Return what is wanted of every request."""
        kept = ORCHESTRATION_TOOLS if self.keep_orchestration_tools else frozenset()
        return HouseRules(
            removed_tools=frozenset(self.client_only_tools) - kept,
            user_hash_key=self.user_hash_key.get_secret_value().encode(),
            is_cache_marked=self.auto_cache,
        )

    def budget(self) -> Budget:
        """Return the limits of a walk whose plan sets none."""
        return Budget(
            max_attempts=self.max_attempts,
            same_binding_retries=self.same_binding_retries,
            same_binding_s=self.retry_budget_ms / 1000,
            pre_commit_s=self.pre_commit_budget_seconds,
            max_throttle_wait_s=self.max_throttle_wait_seconds,
            backoff_base_s=self.backoff_base_ms / 1000,
        )

    def limits(self) -> Mapping[WireFamily, WatchLimits]:
        """Return the limits on upstream silence by dialect."""
        return {family: self._limits(family) for family in WireFamily}

    def _limits(self, family: WireFamily) -> WatchLimits:
        is_responses = family is WireFamily.OPENAI_RESPONSES
        return WatchLimits(
            idle_s=(
                self.responses_sse_idle_timeout_seconds
                if is_responses
                else self.sse_idle_timeout_seconds
            ),
            first_output_s=self.first_output_timeout_seconds,
            stall_s=self.output_stall_timeout_seconds,
            hold_s=self.bookkeeping_hold_seconds,
            pace=ANY_PACE if family is WireFamily.GEMINI else self._pace(),
        )

    def _pace(self) -> Pace:
        return Pace(
            window_s=self.throughput_window_seconds,
            warm_up_s=self.throughput_min_elapsed_seconds,
            floor=self.throughput_min_deltas,
        )
