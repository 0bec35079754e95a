"""The canonical model that all dialects meet in: requests, answers, stream events, errors.

JSON fragments that must survive exactly (tool arguments, schemas, unknown members) are kept as
``bytes`` of JSON text. Values are immutable; absent is None where it differs from empty.
"""

from __future__ import annotations

from services.domain.wire.model.answer import RenderContext, Response, Stop, StopReason, Usage
from services.domain.wire.model.blocks import (
    Block,
    CacheMark,
    Media,
    Opaque,
    ProviderState,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from services.domain.wire.model.errors import ClientError, ErrorKind, UpstreamError
from services.domain.wire.model.events import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    BlockState,
    End,
    Event,
    Failure,
    Observation,
    Ping,
    Start,
    UsageSeen,
)
from services.domain.wire.model.faults import UnbuildableError, WireError
from services.domain.wire.model.request import (
    Address,
    Limits,
    OutputFormat,
    Reasoning,
    Request,
    Sampling,
    SystemBlock,
    Tool,
    ToolChoice,
    Turn,
)
from services.domain.wire.model.target import (
    EncodedRequest,
    HouseRules,
    Record,
    Target,
    Transform,
    TransformAction,
)

__all__ = [
    "Address",
    "Block",
    "BlockClose",
    "BlockDelta",
    "BlockOpen",
    "BlockState",
    "CacheMark",
    "ClientError",
    "EncodedRequest",
    "End",
    "ErrorKind",
    "Event",
    "Failure",
    "HouseRules",
    "Limits",
    "Media",
    "Observation",
    "Opaque",
    "OutputFormat",
    "Ping",
    "ProviderState",
    "Reasoning",
    "Record",
    "Refusal",
    "RenderContext",
    "Request",
    "Response",
    "Role",
    "Sampling",
    "Start",
    "Stop",
    "StopReason",
    "SystemBlock",
    "Target",
    "Text",
    "Thinking",
    "Tool",
    "ToolChoice",
    "ToolResult",
    "ToolUse",
    "Transform",
    "TransformAction",
    "Turn",
    "UnbuildableError",
    "UpstreamError",
    "Usage",
    "UsageSeen",
    "WireError",
]
