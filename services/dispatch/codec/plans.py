"""Attempt plans as values."""

from __future__ import annotations

import math
from functools import lru_cache
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
from services.domain.fields import text
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
    count = len(message.bindings)
    if not 1 <= count <= MAX_BINDINGS:
        raise InvalidRequestError.of("plan.bindings", f"must hold 1 to {MAX_BINDINGS} entries")
    start = message.start_index
    if not 0 <= start < count:
        raise InvalidRequestError.of("plan.start_index", "must be a position in plan.bindings")
    if message.first_attempt_number < 1:
        raise InvalidRequestError.of("plan.first_attempt_number", "must be 1 or more")
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
        first_attempt_number=message.first_attempt_number,
        affinity_key=message.affinity_key,
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


@lru_cache(maxsize=common.MOST_KEPT)
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
        end_unix_s = message.cooldown_end_time.ToMilliseconds() / 1000
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
        InvalidRequestError: model or provider is missing, or the dialect is not one of ours.
    """
    return _planned_binding(message.SerializeToString(), field)


@lru_cache(maxsize=common.MOST_KEPT)
def _planned_binding(sealed: bytes, field: str) -> PlannedBinding:
    message = attempt_pb2.PlannedBinding.FromString(sealed)
    family = None
    if message.HasField("wire_family"):
        family = tables.required(tables.FAMILY, message.wire_family, f"{field}.wire_family")
    return PlannedBinding(
        ref=common.binding_ref(message.binding, f"{field}.binding"),
        family=family,
        context_window_tokens=message.context_window_token_count,
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
                secret=text(row.presented_secret, f"{field}.presented_secret"),
                presented_hash=text(
                    row.identity.presented_hash, f"{field}.identity.presented_hash"
                ),
                kind=tables.required(tables.CREDENTIAL_KIND, row.identity.kind, f"{field}.kind"),
                provider=text(row.identity.provider, f"{field}.identity.provider"),
                account_id=row.account_id,
            )
        )
    return tuple(values)


def _budget(message: dispatch_pb2.AttemptPlan, defaults: Budget) -> Budget:
    if not message.HasField("budget"):
        return defaults
    told = message.budget
    attempts, retries = defaults.max_attempts, defaults.same_binding_retries
    rescues = defaults.max_rescues
    if told.HasField("max_attempt_count"):
        attempts = _within(told.max_attempt_count, 1, 6, "plan.budget.max_attempt_count")
    if told.HasField("same_binding_retry_count"):
        retries = _within(
            told.same_binding_retry_count, 0, 5, "plan.budget.same_binding_retry_count"
        )
    if told.HasField("max_rescue_count"):
        rescues = _within(told.max_rescue_count, 0, 5, "plan.budget.max_rescue_count")
    return Budget(
        max_attempts=attempts,
        same_binding_retries=retries,
        same_binding_s=(
            common.seconds_of(told.same_binding_duration)
            if told.HasField("same_binding_duration")
            else defaults.same_binding_s
        ),
        pre_commit_s=(
            common.seconds_of(told.pre_commit_duration)
            if told.HasField("pre_commit_duration")
            else defaults.pre_commit_s
        ),
        max_throttle_wait_s=(
            common.seconds_of(told.max_throttle_wait)
            if told.HasField("max_throttle_wait")
            else defaults.max_throttle_wait_s
        ),
        max_throttle_waits=defaults.max_throttle_waits,
        backoff_base_s=defaults.backoff_base_s,
        throttle_backoff_s=defaults.throttle_backoff_s,
        max_rescues=rescues,
    )


def _within(value: int, least: int, most: int, field: str) -> int:
    if not least <= value <= most:
        raise InvalidRequestError.of(field, f"must be {least} to {most}")
    return value
