"""Closed sets of dispatch; the members are named as the values of the contract's enums."""

from __future__ import annotations

import enum


class AttemptKind(enum.StrEnum):
    """What attempts are made for."""

    SERVE = "serve"
    SWITCH_SUMMARY = "switch_summary"
    COMPACTION_SUMMARY = "compaction_summary"
    TRIM_SUMMARY = "trim_summary"
    COUNT_TOKENS = "count_tokens"


class AttemptCause(enum.StrEnum):
    """Why the walk came to an attempt."""

    FIRST = "first"
    RETRY = "retry"
    ROTATION = "rotation"
    HOP = "hop"
    CYBER_REFUSAL = "cyber_refusal"
    BASELINE = "baseline"
    CLAUDE_PLAN = "claude_plan"
    CODEX_PLAN = "codex_plan"
    LARGER_WINDOW = "larger_window"
    SIBLING = "sibling"


RESCUES = (
    AttemptCause.CYBER_REFUSAL,
    AttemptCause.BASELINE,
    AttemptCause.CLAUDE_PLAN,
    AttemptCause.CODEX_PLAN,
    AttemptCause.LARGER_WINDOW,
    AttemptCause.SIBLING,
)
"""The rescues, in the fixed order in which a walk tries them."""


class AttemptOutcome(enum.StrEnum):
    """What became of an attempt."""

    SERVED = "served"
    FAILED = "failed"
    BROKEN = "broken"
    SKIPPED = "skipped"


class WalkStep(enum.StrEnum):
    """What the walk does after a failed attempt."""

    RETRY = "retry"
    ROTATE = "rotate"
    HOP = "hop"
    RESCUE = "rescue"
    END = "end"


class WalkEnd(enum.StrEnum):
    """Why a walk ended without an answer."""

    TERMINAL = "terminal"
    EXHAUSTED = "exhausted"
    ATTEMPT_BUDGET = "attempt_budget"
    TIME_BUDGET = "time_budget"


class EffectKind(enum.StrEnum):
    """What a session should remember of an attempt."""

    COOLDOWN = "cooldown"
    DEMOTE = "demote"
    COUNT_REFUSAL = "count_refusal"
    EVICT_PIN = "evict_pin"
    COUNT_OVERLOAD = "count_overload"
    CLEAR_COUNTS = "clear_counts"
    CORRECT_ESTIMATE = "correct_estimate"


class UsageSource(enum.StrEnum):
    """Where token counts come from."""

    REPORTED = "reported"
    PARTIAL = "partial"
    ESTIMATED = "estimated"


class AuthScheme(enum.StrEnum):
    """How key material goes on the wire."""

    X_API_KEY = "x_api_key"
    BEARER = "bearer"
    X_GOOG_API_KEY = "x_goog_api_key"
    CLAUDE_OAUTH = "claude_oauth"
    CODEX_OAUTH = "codex_oauth"
    GEMINI_OAUTH = "gemini_oauth"
    CUSTOM_HEADER = "custom_header"
    NONE = "none"


class CredentialBucket(enum.StrEnum):
    """The preference bucket that a credential was picked from."""

    CLEAN = "clean"
    WARNED = "warned"
    OVERAGE = "overage"
    LAST_RESORT = "last_resort"


class SecretPurpose(enum.StrEnum):
    """What a secret is asked for."""

    SERVE = "serve"
    AUXILIARY = "auxiliary"
    COUNT_TOKENS = "count_tokens"
    LIST_MODELS = "list_models"


class EndKind(enum.StrEnum):
    """How an attempt ended, as credentials hears it."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CALLER_GONE = "caller_gone"
    EMPTY_STREAM = "empty_stream"
    NOT_SENT = "not_sent"
