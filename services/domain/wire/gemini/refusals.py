"""What the catalog says a target refuses, by this dialect's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Target

_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "maxOutputTokens": ("max_tokens", "max_output_tokens", "max_completion_tokens"),
    "stopSequences": ("stop", "stop_sequences"),
    "topP": ("top_p",),
    "topK": ("top_k",),
    "frequencyPenalty": ("frequency_penalty",),
    "presencePenalty": ("presence_penalty",),
    "responseLogprobs": ("logprobs", "response_logprobs"),
    "logprobs": ("top_logprobs",),
    "candidateCount": ("n", "candidate_count"),
    "thinkingConfig": ("thinking", "reasoning_effort", "thinking_config"),
}


def is_refused(name: str, target: Target) -> bool:
    """Whether ``target`` refuses this member of ``generationConfig``, by any of its names."""
    refused = target.facts.refused_parameters
    names = (name, f"generationConfig.{name}", *_OTHER_NAMES.get(name, ()))
    return any(other in refused for other in names)
