"""OpenAI Chat Completions: ``CODEC`` speaks it on both sides, to clients and to upstreams."""

from __future__ import annotations

from services.domain.wire.openai_chat.codec import CODEC
from services.domain.wire.openai_chat.usage_filter import UsageFrameFilter

__all__ = ["CODEC", "UsageFrameFilter"]
