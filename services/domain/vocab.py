"""Closed sets that several parts speak of, spelled as in configuration and headers."""

from __future__ import annotations

import enum


class WireFamily(enum.StrEnum):
    """Names an API dialect: of a client (a surface) or of an upstream (a wire family)."""

    ANTHROPIC = "anthropic"
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"
    GEMINI = "gemini"


class TurnType(enum.StrEnum):
    """Names what kind of action a request is."""

    PROBE = "probe"
    TITLE_GEN = "title_gen"
    COMPACTION = "compaction"
    RECAP = "recap"
    SUB_AGENT_DISPATCH = "sub_agent_dispatch"
    CLASSIFIER = "classifier"
    TOOL_RESULT = "tool_result"
    MAIN_LOOP = "main_loop"


class ModelTier(enum.StrEnum):
    """Names the class of a model in the catalog."""

    UNKNOWN = "unknown"
    LOW = "low"
    MID = "mid"
    HIGH = "high"
    TOP = "top"


class CredentialKind(enum.StrEnum):
    """Names how a credential authenticates."""

    API_KEY = "api_key"
    CLAUDE_OAUTH = "claude_oauth"
    CODEX_OAUTH = "codex_oauth"
    GEMINI_OAUTH = "gemini_oauth"
    GATEWAY = "gateway"
    NONE = "none"


class CredentialOwner(enum.StrEnum):
    """Names whose credential it is."""

    OPERATOR = "operator"
    TENANT = "tenant"
    CALLER = "caller"


class FailureClass(enum.StrEnum):
    """Names the class of a failed attempt; the contract's FailureClass says what each allows."""

    UPSTREAM_STATUS = "upstream_status"
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TRANSPORT = "transport"
    HEADER_TIMEOUT = "header_timeout"
    STALL = "stall"
    STREAM_EMPTY = "stream_empty"
    STREAM_INCOMPLETE = "stream_incomplete"
    MODEL_NOT_FOUND = "model_not_found"
    BILLING = "billing"
    AUTH = "auth"
    PLAN_EXHAUSTED = "plan_exhausted"
    CAPABILITY = "capability"
    SCHEMA = "schema"
    SIGNATURE = "signature"
    CONTEXT_OVERFLOW = "context_overflow"
    CYBER_REFUSAL = "cyber_refusal"
    CONTENT_POLICY = "content_policy"
    REJECTED = "rejected"
    PROVIDER_NOT_CONFIGURED = "provider_not_configured"
    CREDENTIALS_COOLING = "credentials_cooling"
    CREDENTIALS_DISABLED = "credentials_disabled"
    NO_ELIGIBLE_PROVIDER = "no_eligible_provider"
    CREDENTIALS_UNREACHABLE = "credentials_unreachable"
    FORCED_MODEL_UNSERVABLE = "forced_model_unservable"
    UNBUILDABLE = "unbuildable"
    CANCELLED = "cancelled"
    BAD_RESPONSE = "bad_response"
