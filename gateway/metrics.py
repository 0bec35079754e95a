"""Counters and histograms of the edge; every label value comes from a closed set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime.metrics import BUCKETS_S
from services.runtime.tallies import Counter, Gauge, Histogram

if TYPE_CHECKING:
    from collections.abc import Collection

HTTP_REQUESTS = Counter(
    "pointsman_http_requests_total", "HTTP requests answered", ("surface", "code")
)
ACTION_SECONDS = Histogram(
    "pointsman_action_seconds", "Time from request to end of answer", buckets=BUCKETS_S
)
TTFT_SECONDS = Histogram(
    "pointsman_ttft_seconds", "Time from request to first byte of answer", buckets=BUCKETS_S
)
INFLIGHT_ACTIONS = Gauge("pointsman_inflight_actions", "Actions running now")
KEEPALIVES = Counter("pointsman_stream_keepalives_total", "Keepalive frames written to clients")
ATTEMPTS = Counter(
    "pointsman_attempts_total", "Upstream attempts by what became of them", ("provider", "outcome")
)
DECISIONS = Counter("pointsman_decisions_total", "Actions decided, by how", ("path",))
DEGRADED = Counter(
    "pointsman_degraded_decisions_total", "Decisions made without a service", ("peer",)
)
SUMMARIES = Counter(
    "pointsman_summaries_total", "Summaries asked for, by what came of them", ("outcome",)
)
COMPACTIONS = Counter(
    "pointsman_compactions_total", "Conversations that reached the windows' limit", ("outcome",)
)
ARGUMENT_ISSUES = Counter(
    "pointsman_tool_argument_issues_total",
    "Tool calls of translated answers with a fault, by what was done about it",
    ("issue",),
)
BELIEVED_COST_RATIO = Histogram(
    "pointsman_believed_cost_ratio",
    "Cost of a prompt as it was believed, over what it was billed at",
    buckets=(0.5, 0.75, 0.9, 0.95, 0.99, 1.01, 1.05, 1.1, 1.25, 1.5, 2.0),
)
COMMANDS = Counter("pointsman_commands_total", "Commands in conversations", ("kind",))
FEEDBACK = Counter("pointsman_feedback_total", "What people said of answers", ("verdict",))
LOOPS = Counter(
    "pointsman_loops_total", "Agents seen going round in circles", ("kind", "escalation")
)
LEDGER_ROWS = Counter(
    "pointsman_ledger_rows_total", "Attempts settled", ("outcome", "usage_source")
)
LEDGER_UNPRICED = Counter(
    "pointsman_ledger_unpriced_total", "Attempts with tokens whose price is not known"
)
LEDGER_PENDING_ROWS = Gauge("pointsman_ledger_pending_rows", "Settled rows not stored yet")
LEDGER_OLDEST_SECONDS = Gauge(
    "pointsman_ledger_oldest_pending_seconds", "Age of the oldest settled row not stored yet"
)

SHADOW = Counter(
    "pointsman_shadow_decisions_total",
    "Decisions made once more by the shadow strategy, by what came of it",
    ("outcome",),
)
REQUIREMENTS_UNMET = Counter(
    "pointsman_requirements_unmet_total",
    "Needs of requests that the chosen target meets by halves",
    ["requirement"],
)

OTHER = "other"
"""Label of everything that is not in the closed set."""

GONE_CODE = "499"
"""Code label of requests whose client left before a status went out."""

_CODES = frozenset(
    {"200", "400", "401", "402", "403", "404", "405", "408", "409", "413", "415", "422", "429"}
    | {GONE_CODE, "500", "501", "502", "503", "504", "529"}
)


def code_label(status: int) -> str:
    """Return the label of an HTTP status."""
    code = str(status) if status else GONE_CODE
    return code if code in _CODES else OTHER


def provider_label(provider: str, known: Collection[str]) -> str:
    """Return the label of a provider."""
    return provider if provider in known else OTHER
