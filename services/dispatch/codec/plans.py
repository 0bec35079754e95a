"""Attempt plans as values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pointsman.common.v1 import attempt_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from services.dispatch.codec import common
from services.dispatch.codec import enums as tables
from services.dispatch.model.access import Presented
from services.dispatch.model.enums import RESCUES
from services.dispatch.model.plan import (
    Budget,
    Plan,
    PlannedBinding,
    Rescue,
    RescueFlags,
)
from services.domain.errors import InvalidRequestError
from services.domain.fields import count, first_attempt, header, text
from services.domain.keeping import kept
from services.domain.wire.forced import forced_level
from services.domain.wire.model import WireError
from services.domain.wire.state.kept import Restored
from services.domain.wire.state.sealing import unseal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pointsman.common.v1 import grant_pb2

    from services.dispatch.model.access import Grant

MAX_BINDINGS = 16
MAX_RESCUES = 32
MAX_RESTORED = 1024


def plan_of(message: dispatch_pb2.AttemptPlan, defaults: Budget) -> Plan:
    """Return a plan; ``defaults`` holds where it sets no limit.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    given = len(message.bindings)
    if not 1 <= given <= MAX_BINDINGS:
        raise InvalidRequestError.of("plan.bindings", f"must hold 1 to {MAX_BINDINGS} entries")
    start = message.start_index
    if not 0 <= start < given:
        raise InvalidRequestError.of("plan.start_index", "must be a position in plan.bindings")
    flags = message.flags
    bindings = [
        planned_binding(row, f"plan.bindings[{i}]") for i, row in enumerate(message.bindings)
    ]
    return Plan(
        bindings=tuple(bindings[start:]),
        start_index=start,
        planned_provider=bindings[0].ref.provider,
        budget=_budget(message, defaults),
        grant=_plan_grant(message, bindings[start]),
        required_credential_id=message.required_credential_id,
        presented=_presented(message.presented),
        first_attempt_number=first_attempt(
            message.first_attempt_number, "plan.first_attempt_number"
        ),
        affinity_key=header(message.affinity_key, "plan.affinity_key"),
        is_throttle_wait_enabled=flags.is_throttle_wait_enabled,
        is_model_switched=flags.is_model_switched,
        is_user_forced=flags.is_user_forced,
        restored=_restored(message.restored_states),
        rescues=_rescues(message.rescues),
        rescue_flags=RescueFlags(
            is_shadow=flags.is_shadow,
            is_hard_pinned=flags.is_hard_pinned,
            is_authoritative=flags.is_authoritative_policy,
            is_subscription_only=flags.is_subscription_only,
            is_cyber_retry_enabled=flags.is_cyber_refusal_retry_enabled,
        ),
        is_transient_cooling_enabled=flags.is_transient_cooling_enabled,
        is_overload_struck=flags.is_overload_struck,
    )


def _restored(rows: Sequence[dispatch_pb2.RestoredState]) -> tuple[Restored, ...]:
    """Return the states that can be read; the others are left out, as if they were lost."""
    if len(rows) > MAX_RESTORED:
        field, limit = "plan.restored_states", MAX_RESTORED
        raise InvalidRequestError.of(field, f"must hold at most {limit} entries")
    found = ((tables.PLACE.get(row.place), unseal(row.sealed_state), row.key) for row in rows)
    return tuple(
        Restored(place, key, sealed.state, sealed.words_digest)
        for place, sealed, key in found
        if place is not None and sealed is not None
    )


def _rescues(rows: Sequence[dispatch_pb2.RescueCandidate]) -> tuple[Rescue, ...]:
    if len(rows) > MAX_RESCUES:
        raise InvalidRequestError.of("plan.rescues", f"must hold at most {MAX_RESCUES} entries")
    return tuple(
        _rescue(row.SerializeToString(), f"plan.rescues[{i}]") for i, row in enumerate(rows)
    )


@kept(common.MOST_KEPT)
def _rescue(sealed: bytes, field: str) -> Rescue:
    message = dispatch_pb2.RescueCandidate.FromString(sealed)
    cause = tables.required(tables.CAUSE, message.cause, f"{field}.cause")
    if cause not in RESCUES:
        raise InvalidRequestError.of(f"{field}.cause", "must be a rescue")
    if not 1 <= len(message.bindings) <= MAX_BINDINGS:
        raise InvalidRequestError.of(f"{field}.bindings", f"must hold 1 to {MAX_BINDINGS} entries")
    if message.health == dispatch_pb2.RESCUE_HEALTH_UNSPECIFIED:
        raise InvalidRequestError.of(f"{field}.health", "must be set to a value of the contract")
    is_cooling = message.health != dispatch_pb2.RESCUE_HEALTH_HEALTHY
    end_unix_s = math.inf
    if message.HasField("cooldown_end_time"):
        end = message.cooldown_end_time
        end_unix_s = end.seconds + end.nanos / 1e9
    return Rescue(
        cause=cause,
        bindings=tuple(
            planned_binding(row, f"{field}.bindings[{i}]") for i, row in enumerate(message.bindings)
        ),
        is_cooling=is_cooling,
        cooldown_end_unix_s=end_unix_s if is_cooling else 0.0,
        is_other_provider=message.is_other_provider,
    )


def _plan_grant(message: dispatch_pb2.AttemptPlan, first: PlannedBinding) -> Grant | None:
    if not message.HasField("grant"):
        return None
    grant = common.grant(message.grant, "plan.grant")
    if grant.binding.provider != first.ref.provider:
        raise InvalidRequestError.of(
            "plan.grant.binding", "must be of the provider at plan.start_index"
        )
    if grant.credential_id and message.required_credential_id not in ("", grant.credential_id):
        raise InvalidRequestError.of(
            "plan.grant.credential_id", "must be plan.required_credential_id where that is set"
        )
    return grant


def planned_binding(message: attempt_pb2.PlannedBinding, field: str) -> PlannedBinding:
    """Return one binding to try.

    Raises:
        InvalidRequestError: model or provider is missing, the dialect is not one of ours, or the
            window is none.
    """
    return _planned_binding(message.SerializeToString(), field)


@kept(common.MOST_KEPT)
def _planned_binding(sealed: bytes, field: str) -> PlannedBinding:
    message = attempt_pb2.PlannedBinding.FromString(sealed)
    family = None
    if message.HasField("wire_family"):
        family = tables.required(tables.FAMILY, message.wire_family, f"{field}.wire_family")
    return PlannedBinding(
        ref=common.binding_ref(message.binding, f"{field}.binding"),
        family=family,
        context_window_tokens=count(
            message.context_window_token_count, f"{field}.context_window_token_count"
        ),
        effort=_effort(message.effort, f"{field}.effort"),
        is_fast_allowed=message.is_fast_allowed,
    )


def _effort(word: str, field: str) -> str:
    try:
        return forced_level(word) if word else ""
    except WireError as error:
        raise InvalidRequestError.of(field, error.message) from None


def _presented(rows: Sequence[grant_pb2.PresentedCredential]) -> tuple[Presented, ...]:
    values = []
    for i, row in enumerate(rows):
        field = f"plan.presented[{i}]"
        values.append(
            Presented(
                secret=header(
                    text(row.presented_secret, f"{field}.presented_secret"),
                    f"{field}.presented_secret",
                ),
                presented_hash=text(
                    row.identity.presented_hash, f"{field}.identity.presented_hash"
                ),
                kind=tables.required(
                    tables.CREDENTIAL_KIND, row.identity.kind, f"{field}.identity.kind"
                ),
                provider=text(row.identity.provider, f"{field}.identity.provider"),
                account_id=header(row.account_id, f"{field}.account_id"),
            )
        )
    return tuple(values)


def _budget(message: dispatch_pb2.AttemptPlan, defaults: Budget) -> Budget:
    if not message.HasField("budget"):
        return defaults
    told = message.budget

    def number(name: str, least: int, most: int, default: int) -> int:
        if not told.HasField(name):
            return default
        return _within(getattr(told, name), least, most, f"plan.budget.{name}")

    def seconds(name: str, default: float) -> float:
        if not told.HasField(name):
            return default
        return common.seconds_of(getattr(told, name), f"plan.budget.{name}")

    return Budget(
        max_attempts=number("max_attempt_count", 1, 6, defaults.max_attempts),
        same_binding_retries=number(
            "same_binding_retry_count", 0, 5, defaults.same_binding_retries
        ),
        same_binding_s=seconds("same_binding_duration", defaults.same_binding_s),
        pre_commit_s=seconds("pre_commit_duration", defaults.pre_commit_s),
        max_throttle_wait_s=seconds("max_throttle_wait", defaults.max_throttle_wait_s),
        max_throttle_waits=defaults.max_throttle_waits,
        backoff_base_s=defaults.backoff_base_s,
        throttle_backoff_s=defaults.throttle_backoff_s,
        max_rescues=number("max_rescue_count", 0, 5, defaults.max_rescues),
    )


def _within(value: int, least: int, most: int, field: str) -> int:
    if not least <= value <= most:
        raise InvalidRequestError.of(field, f"must be {least} to {most}")
    return value
