"""Follows actions of a running router: each decision, each attempt and why it failed, the end."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
from typing import TYPE_CHECKING

import grpc
from google.protobuf import json_format
from pointsman.common.v1 import attempt_pb2
from pointsman.dispatch.v1 import dispatch_pb2
from pointsman.router.v1 import router_pb2, router_pb2_grpc

from services.cli.reaching import unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from google.protobuf.duration_pb2 import Duration
    from pointsman.common.v1 import binding_pb2

_OUTCOMES = (attempt_pb2.AttemptOutcome.Name, "ATTEMPT_OUTCOME_")
_CAUSES = (attempt_pb2.AttemptCause.Name, "ATTEMPT_CAUSE_")
_FAILURES = (attempt_pb2.FailureClass.Name, "FAILURE_CLASS_")
_KINDS = (attempt_pb2.AttemptKind.Name, "ATTEMPT_KIND_")
_STEPS = (dispatch_pb2.WalkStep.Name, "WALK_STEP_")
_MILLION = 1_000_000


async def told(
    rpc: str, key: str, action_id: str
) -> AsyncGenerator[router_pb2.WatchDecisionsResponse, None]:
    """Yield what happens from now on, to one action or to all; with an action it has an end.

    Raises:
        StartError: the router is not there, refuses the key, or ended the stream.
    """
    watch = router_pb2.WatchDecisionsRequest(action_id=action_id, wants_attempts=True)
    async with grpc.aio.insecure_channel(rpc) as channel:
        stub = router_pb2_grpc.RouterServiceStub(channel)
        call = stub.WatchDecisions(watch, metadata=(("authorization", f"Bearer {key}"),))
        try:
            async for event in call:
                yield event
        except grpc.aio.AioRpcError as fault:
            raise unreachable(rpc, fault) from None
        finally:
            call.cancel()


async def follow(rpc: str, key: str, action_id: str, *, as_json: bool) -> None:
    """Print what happens, a line each, until it ends or the caller cancels."""
    is_told = False
    async with contextlib.aclosing(told(rpc, key, action_id)) as events:
        async for event in events:
            if not is_told:
                # The first sign of life says that everything from now on is seen.
                is_told = True
                print(f"following {rpc}; Ctrl-C ends", file=sys.stderr, flush=True)
            line = _json(event) if as_json else line_of(event)
            if line:
                print(line, flush=True)


def _json(event: router_pb2.WatchDecisionsResponse) -> str:
    if event.WhichOneof("event") is None:
        return ""
    return json_format.MessageToJson(event, preserving_proto_field_name=True, indent=None)


def line_of(event: router_pb2.WatchDecisionsResponse) -> str:
    """Return the line about an event; empty for a sign of life."""
    missed = f"({event.missed_event_count} events missed)  " if event.missed_event_count else ""
    match event.WhichOneof("event"):
        case "decided":
            line = _decided(event.decided)
        case "shadowed":
            line = _shadowed(event.shadowed)
        case "began":
            line = _began(event.began)
        case "attempted":
            line = _attempted(event.attempted)
        case "completed":
            line = _completed(event.completed)
        case _:
            return ""
    return missed + line


def _decided(decision: router_pb2.RouteDecision) -> str:
    when = decision.decide_time.ToDatetime(dt.UTC).astimezone().strftime("%H:%M:%S")
    plan = " > ".join(_at(row.binding) for row in decision.plan)
    rescues = ", ".join(decision.rescue_model_ids)
    beside = f"; beside it {rescues}" if rescues else ""
    asked = f" for {decision.requested_model}" if decision.requested_model else ""
    return f"{decision.action_id}  {when} decided{asked}: {plan} ({decision.reason}){beside}"


def _shadowed(notice: router_pb2.ShadowNotice) -> str:
    shadow = notice.shadow
    would = f"{shadow.strategy} would pick {_at(shadow.binding)}"
    return f"{notice.action_id}    shadow {would} ({shadow.reason})"


def _began(began: router_pb2.AttemptBegin) -> str:
    credential = began.credential.fingerprint
    on = f", credential {credential}" if credential else ""
    after = f" after {_span(began.wait)}" if began.HasField("wait") else ""
    cause = _word(_CAUSES, began.cause)
    return f"{began.action_id}    {began.attempt_number} {_at(began.binding)}: {cause}{after}{on}"


def _attempted(notice: router_pb2.AttemptNotice) -> str:
    attempt = notice.attempt
    is_own = attempt.kind not in (0, attempt_pb2.ATTEMPT_KIND_SERVE)
    number = _word(_KINDS, attempt.kind) if is_own else str(attempt.attempt_number)
    parts = [_word(_OUTCOMES, attempt.outcome)]
    if attempt.failure_class:
        parts.append(_word(_FAILURES, attempt.failure_class))
    if attempt.HasField("http_status"):
        parts.append(f"HTTP {attempt.http_status}")
    if notice.vendor_type:
        parts.append(notice.vendor_type)
    if notice.HasField("retry_delay"):
        parts.append(f"asks for {_span(notice.retry_delay)}")
    if notice.dropped_feature:
        parts.append(f"gave up {notice.dropped_feature}")
    if attempt.HasField("usage"):
        usage = attempt.usage
        parts.append(f"{usage.fresh_input_token_count} in, {usage.output_token_count} out")
    if notice.next_step:
        wait = f" in {_span(notice.wait)}" if notice.HasField("wait") else ""
        parts.append(f"next: {_word(_STEPS, notice.next_step)}{wait}")
    return f"{notice.action_id}    {number} {_at(attempt.binding)}: {', '.join(parts)}"


def _completed(result: router_pb2.ActionResult) -> str:
    served = f" {_at(result.served)}" if result.HasField("served") else ""
    failure = f" {_word(_FAILURES, result.failure_class)}" if result.failure_class else ""
    charge = (
        f", ${result.charged_micro_usd / _MILLION:.6f}"
        if result.HasField("charged_micro_usd")
        else ""
    )
    attempts = f"{result.attempt_count} attempt" + ("" if result.attempt_count == 1 else "s")
    return f"{result.action_id}  HTTP {result.http_status}{served}{failure}, {attempts}{charge}"


def _at(binding: binding_pb2.BindingRef) -> str:
    return f"{binding.model_id}@{binding.provider}"


def _span(duration: Duration) -> str:
    milliseconds = duration.ToMilliseconds()
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:g} s"


def _word(table: tuple[Callable[[int], str], str], number: int) -> str:
    """Return an enum's value in words; its number where this program does not know it."""
    name_of, prefix = table
    try:
        return name_of(number).removeprefix(prefix).lower()
    except ValueError:
        return str(number)
