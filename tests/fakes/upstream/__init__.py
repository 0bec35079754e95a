"""A fake LLM provider for tests: real loopback sockets, recording, fault injection."""

from __future__ import annotations

from tests.fakes.upstream.answer import Voice
from tests.fakes.upstream.server import FakeUpstream
from tests.fakes.upstream.values import (
    Ending,
    Family,
    Fault,
    Match,
    RecordedRequest,
    Rule,
    Scenario,
    ToolCall,
    Usage,
)

__all__ = [
    "Ending",
    "FakeUpstream",
    "Family",
    "Fault",
    "Match",
    "RecordedRequest",
    "Rule",
    "Scenario",
    "ToolCall",
    "Usage",
    "Voice",
]
