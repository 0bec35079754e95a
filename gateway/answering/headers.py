"""The headers of answers. Pure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gateway.model import RescueCause
from services.domain.pricing import usd_text
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import Head
    from gateway.model.record import Bill
    from services.domain.wire.model import ClientError

SERVER = "pointsman"
JSON_TYPE = "application/json"
SSE_TYPE = "text/event-stream"

EXPOSED_HEADERS = ", ".join(
    (
        "x-router-action-id",
        "x-router-decision",
        "x-router-provider",
        "x-router-model",
        "x-router-context-window",
        "x-router-cache",
        "x-router-fallback-from",
        "x-router-fallback-attempt",
        "x-router-cost-usd",
        "x-router-cost-input-usd",
        "x-router-cost-output-usd",
        "x-router-cache-read-tokens",
        "x-router-cache-creation-tokens",
        "request-id",
        "x-request-id",
        "retry-after",
    )
)

REASONS = {
    RescueCause.CYBER_REFUSAL.value: "cyber-refusal-retry",
    RescueCause.BASELINE.value: "baseline_failover",
    RescueCause.CLAUDE_PLAN.value: "subscription_failover",
    RescueCause.CODEX_PLAN.value: "codex_failover",
    RescueCause.LARGER_WINDOW.value: "larger_window",
    RescueCause.SIBLING.value: "sibling_failover",
}
"""Why the model of a rescue serves, in the place of the decision's own reason."""

_NEVER_RELAYED = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "set-cookie",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)


def request_id_header(surface: WireFamily) -> str:
    """Return the header in which clients of a surface look for the id of their request."""
    return "request-id" if surface is WireFamily.ANTHROPIC else "x-request-id"


def base_headers(surface: WireFamily, action_id: str) -> dict[str, str]:
    """Return the headers that every answer to an action has."""
    return {
        "server": SERVER,
        request_id_header(surface): action_id,
        "x-router-action-id": action_id,
        "access-control-expose-headers": EXPOSED_HEADERS,
    }


def relayed(headers: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return upstream headers less those that belong to its own connection and body."""
    dropped = _NEVER_RELAYED
    for name, value in headers:
        if name == "connection":
            dropped = dropped | {token.strip().lower() for token in value.split(",")}
    return {name: value for name, value in headers if name.lower() not in dropped}


def answer_headers(
    head: Head, surface: WireFamily, action_id: str, decision: str, *, is_stream: bool
) -> list[tuple[str, str]]:
    """Return the headers of an answer, final before its first byte."""
    headers = base_headers(surface, action_id)
    headers.update(relayed(head.headers))
    headers["content-type"] = _content_type(head, surface, is_stream=is_stream)
    headers["x-router-decision"] = decision
    headers["x-router-provider"] = head.binding.provider
    headers["x-router-model"] = head.binding.model_id
    if head.binding.context_window_tokens:
        headers["x-router-context-window"] = str(head.binding.context_window_tokens)
    if head.plan_index > 0:
        headers["x-router-fallback-from"] = head.planned_provider
        headers["x-router-fallback-attempt"] = str(head.plan_index)
    if is_stream:
        headers["cache-control"] = "no-cache"
        headers["x-accel-buffering"] = "no"
    return list(headers.items())


def cost_headers(bill: Bill | None) -> list[tuple[str, str]]:
    """Return what a whole answer says of its price; nothing where that is not known."""
    if bill is None:
        return []
    usage, cost = bill.usage, bill.cost
    return [
        ("x-router-cost-usd", usd_text(cost.input_parts + cost.output_parts)),
        ("x-router-cost-input-usd", usd_text(cost.input_parts)),
        ("x-router-cost-output-usd", usd_text(cost.output_parts)),
        ("x-router-cache-read-tokens", str(usage.cache_read or 0)),
        ("x-router-cache-creation-tokens", str(usage.cache_write or 0)),
    ]


def error_headers(surface: WireFamily, error: ClientError) -> list[tuple[str, str]]:
    """Return the headers of an error answer."""
    headers = base_headers(surface, error.request_id)
    headers["content-type"] = JSON_TYPE
    if error.retry_after_s is not None:
        headers["retry-after"] = retry_after(error.retry_after_s)
    return list(headers.items())


def stream_headers(surface: WireFamily, action_id: str) -> dict[str, str]:
    """Return the headers of a stream that the router itself writes."""
    headers = base_headers(surface, action_id)
    headers["content-type"] = SSE_TYPE
    headers["cache-control"] = "no-cache"
    return headers


def retry_after(seconds: float) -> str:
    """Return a wait as the header has it: whole seconds, rounded up, at least one."""
    return str(max(1, math.ceil(seconds)))


def _content_type(head: Head, surface: WireFamily, *, is_stream: bool) -> str:
    default = SSE_TYPE if is_stream else JSON_TYPE
    if head.wire_family is not surface or head.is_stream != is_stream:
        return default
    return next((value for name, value in head.headers if name == "content-type"), default)
