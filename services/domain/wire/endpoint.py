"""Which of OpenAI's two dialects a turn is asked in."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.features import has_audio

if TYPE_CHECKING:
    from services.domain.catalog import ModelFacts
    from services.domain.wire.model import Request


class Host(enum.Enum):
    """Who answers in OpenAI's dialects."""

    OPENAI = enum.auto()
    """OpenAI itself."""
    GATEWAY = enum.auto()
    """A tenant's gateway of the OpenAI families, which may offer both dialects."""
    COMPATIBLE = enum.auto()
    """Anybody else: its family is what it speaks."""


def endpoint_for(
    request: Request,
    facts: ModelFacts,
    host: Host,
    *,
    is_responses_refused: bool = False,
    is_broad: bool = True,
) -> WireFamily:
    """Return the dialect to ask ``host`` in.

    OpenAI itself is asked on Responses for every turn that can be said there (``is_broad``), a
    gateway only where a reasoning model is to call functions, which Chat does not offer together.
    ``is_responses_refused`` is what an earlier answer taught.
    """
    if host is Host.COMPATIBLE or is_responses_refused:
        return WireFamily.OPENAI_CHAT
    is_native = request.family is WireFamily.OPENAI_RESPONSES
    is_reasoning = facts.reasoning != "none"
    has_functions = any(tool.kind == "function" for tool in request.tools)
    is_promoted = is_reasoning and has_functions
    if host is Host.OPENAI and is_broad:
        is_promoted = is_native or is_reasoning or not _is_chat_only(request)
    if (request.limits.n or 1) > 1 or not is_promoted:
        return WireFamily.OPENAI_CHAT
    return WireFamily.OPENAI_RESPONSES


def _is_chat_only(request: Request) -> bool:
    """Whether a turn says what Responses has no member for."""
    sampling = request.sampling
    knobs = (
        sampling.seed,
        sampling.frequency_penalty,
        sampling.presence_penalty,
        sampling.logit_bias,
    )
    return bool(request.limits.stop) or any(k is not None for k in knobs) or has_audio(request)
