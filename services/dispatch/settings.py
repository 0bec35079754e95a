"""Settings of dispatch: the table ``[services.dispatch]``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from services.dispatch.model.limits import WatchLimits
from services.dispatch.model.plan import Budget
from services.domain.vocab import WireFamily
from services.runtime.settings import PositiveSeconds, Seconds, ServiceSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

MIB = 1024 * 1024


class DispatchSettings(ServiceSettings):
    """How long upstreams may take, and how often they are asked."""

    max_body_bytes: int = Field(default=32 * MIB, gt=0)
    """Largest client body; messages may be 1 MiB larger."""
    response_header_timeout_seconds: PositiveSeconds = 30.0
    openai_response_header_timeout_seconds: PositiveSeconds = 120.0
    """For OpenAI itself, whose reasoning may hold the headers back."""
    first_output_timeout_seconds: PositiveSeconds = 90.0
    sse_idle_timeout_seconds: PositiveSeconds = 45.0
    responses_sse_idle_timeout_seconds: PositiveSeconds = 90.0
    output_stall_timeout_seconds: PositiveSeconds = 240.0
    bookkeeping_hold_seconds: Seconds = 20.0
    """Longest time that bookkeeping events are held back; 0: the first byte commits."""
    max_attempts: int = Field(default=6, ge=1, le=6)
    pre_commit_budget_seconds: PositiveSeconds = 120.0
    same_binding_retries: int = Field(default=2, ge=0, le=5)
    backoff_base_ms: int = Field(default=250, ge=0, le=10_000)
    retry_budget_ms: int = Field(default=10_000, ge=0)
    max_throttle_wait_seconds: Seconds = 10.0

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
        )
