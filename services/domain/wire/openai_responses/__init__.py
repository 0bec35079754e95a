"""OpenAI Responses: ``CODEC`` speaks it on both sides, to clients and to upstreams."""

from __future__ import annotations

from services.domain.wire.openai_responses.codec import CODEC

__all__ = ["CODEC"]
