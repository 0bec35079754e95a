"""Requests of DispatchService as values."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from services.dispatch.codec import common
from services.dispatch.codec import enums as tables
from services.dispatch.model.access import Presented
from services.dispatch.model.plan import (
    Budget,
    CountOrder,
    ListOrder,
    Order,
    Plan,
    PlannedBinding,
)
from services.domain.errors import InvalidRequestError
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pointsman.common.v1 import attempt_pb2, conversation_pb2, grant_pb2
    from pointsman.dispatch.v1 import dispatch_pb2

    from services.dispatch.model.access import Grant

MAX_BINDINGS = 16
MAX_RELAYED_HEADERS = 64
MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 100


def order_of(message: dispatch_pb2.DispatchRequest, defaults: Budget) -> Order:
    """Return what is asked; ``defaults`` holds where the plan sets no limit.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    action = common.action(message.action, "action")
    if len(message.relayed_headers) > MAX_RELAYED_HEADERS:
        raise InvalidRequestError.of("relayed_headers", f"at most {MAX_RELAYED_HEADERS}")
    return Order(
        action=action,
        family=_family(message.body.wire_family, "body.wire_family"),
        body=_body(message.body.body),
        eligibility=common.eligibility(message.eligibility, action.installation_id, "eligibility"),
        plan=_plan(message.plan, defaults),
        kind=tables.required(tables.KIND, message.kind, "kind"),
        estimated_input_tokens=message.features.input_token_count,
        relayed_headers=common.header_pairs(message.relayed_headers),
        address=_address(message.body),
    )


def count_order_of(message: dispatch_pb2.CountTokensRequest) -> CountOrder:
    """Return what is to be counted.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    action = common.action(message.action, "action")
    has_binding = message.HasField("binding")
    if has_binding and not message.HasField("eligibility"):
        raise InvalidRequestError.of("eligibility", "must be set together with binding")
    return CountOrder(
        action=action,
        family=_family(message.body.wire_family, "body.wire_family"),
        body=_body(message.body.body),
        binding=_planned(message.binding, "binding") if has_binding else None,
        eligibility=(
            common.eligibility(message.eligibility, action.installation_id, "eligibility")
            if has_binding
            else None
        ),
        grant=common.grant(message.grant, "grant") if message.HasField("grant") else None,
        relayed_headers=common.header_pairs(message.relayed_headers),
        address=_address(message.body),
    )


def list_order_of(message: dispatch_pb2.ListUpstreamModelsRequest) -> ListOrder:
    """Return which page of which provider's list is asked for.

    Raises:
        InvalidRequestError: the provider is missing, or the page token is not one of ours.
    """
    if message.page_size < 0:
        raise InvalidRequestError.of("page_size", "must be 0 to 1000")
    return ListOrder(
        installation_id=message.installation_id,
        provider=common.text(message.provider, "provider"),
        page_size=min(message.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
        after=_after(message.page_token),
    )


def page_token(after: str) -> str:
    """Return the token of the page that begins after an upstream id; empty stays empty."""
    return base64.urlsafe_b64encode(after.encode()).decode()


def _after(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidRequestError.of("page_token", "must be a token of an earlier answer") from None


def _family(number: int, field: str) -> WireFamily:
    return tables.required(tables.FAMILY, number, field)


def _address(body: conversation_pb2.RequestBody) -> Address | None:
    """Return what the path said; only one dialect says anything there."""
    if tables.FAMILY.get(body.wire_family) is not WireFamily.GEMINI:
        return None
    return Address(body.path_model, body.is_stream)


def _body(body: bytes) -> bytes:
    if not body:
        raise InvalidRequestError.of("body.body", "must not be empty")
    return body


def _plan(message: dispatch_pb2.AttemptPlan, defaults: Budget) -> Plan:
    count = len(message.bindings)
    if not 1 <= count <= MAX_BINDINGS:
        raise InvalidRequestError.of("plan.bindings", f"must hold 1 to {MAX_BINDINGS} entries")
    start = message.start_index
    if not 0 <= start < count:
        raise InvalidRequestError.of("plan.start_index", "must be a position in plan.bindings")
    if message.first_attempt_number < 1:
        raise InvalidRequestError.of("plan.first_attempt_number", "must be 1 or more")
    flags = message.flags
    bindings = [_planned(row, f"plan.bindings[{i}]") for i, row in enumerate(message.bindings)]
    return Plan(
        bindings=tuple(bindings[start:]),
        start_index=start,
        planned_provider=bindings[0].ref.provider,
        budget=_budget(message, defaults),
        grant=_plan_grant(message, bindings[start]),
        presented=_presented(message.presented),
        first_attempt_number=message.first_attempt_number,
        affinity_key=message.affinity_key,
        is_throttle_wait_enabled=flags.is_throttle_wait_enabled,
        is_model_switched=flags.is_model_switched,
        is_user_forced=flags.is_user_forced,
    )


def _plan_grant(message: dispatch_pb2.AttemptPlan, first: PlannedBinding) -> Grant | None:
    if not message.HasField("grant"):
        return None
    grant = common.grant(message.grant, "plan.grant")
    if grant.binding.provider != first.ref.provider:
        raise InvalidRequestError.of(
            "plan.grant.binding", "must be of the provider at plan.start_index"
        )
    return grant


def _planned(message: attempt_pb2.PlannedBinding, field: str) -> PlannedBinding:
    family = None
    if message.HasField("wire_family"):
        family = _family(message.wire_family, f"{field}.wire_family")
    return PlannedBinding(
        ref=common.binding_ref(message.binding, f"{field}.binding"),
        family=family,
        context_window_tokens=message.context_window_token_count,
    )


def _presented(rows: Sequence[grant_pb2.PresentedCredential]) -> tuple[Presented, ...]:
    values = []
    for i, row in enumerate(rows):
        field = f"plan.presented[{i}]"
        values.append(
            Presented(
                secret=common.text(row.presented_secret, f"{field}.presented_secret"),
                presented_hash=common.text(
                    row.identity.presented_hash, f"{field}.identity.presented_hash"
                ),
                kind=tables.required(tables.CREDENTIAL_KIND, row.identity.kind, f"{field}.kind"),
                provider=common.text(row.identity.provider, f"{field}.identity.provider"),
                account_id=row.account_id,
            )
        )
    return tuple(values)


def _budget(message: dispatch_pb2.AttemptPlan, defaults: Budget) -> Budget:
    if not message.HasField("budget"):
        return defaults
    told = message.budget
    attempts, retries = defaults.max_attempts, defaults.same_binding_retries
    if told.HasField("max_attempt_count"):
        attempts = _within(told.max_attempt_count, 1, 6, "plan.budget.max_attempt_count")
    if told.HasField("same_binding_retry_count"):
        retries = _within(
            told.same_binding_retry_count, 0, 5, "plan.budget.same_binding_retry_count"
        )
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
    )


def _within(value: int, least: int, most: int, field: str) -> int:
    if not least <= value <= most:
        raise InvalidRequestError.of(field, f"must be {least} to {most}")
    return value
