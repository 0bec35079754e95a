"""The tokens that an attempt is told to have used."""

from __future__ import annotations

from services.dispatch.model.enums import UsageSource
from services.dispatch.model.outcome import Measured
from services.domain.wire.model import Usage

CHARS_PER_TOKEN = 4
LONG_TALK_TOKENS = 140_000
"""Prompt and answer over which an extended context window is asked for where there is one."""
LEAST_ANSWER_TOKENS = 8000
"""Room that every answer is counted with, however short it is to be."""


def measured(
    usage: Usage | None, estimated_input_tokens: int | None, output_chars: int, *, is_whole: bool
) -> Measured | None:
    """Return the tokens used: reported, the last seen, or ours when nothing was said.

    Without an estimate of the input, None stands for what the upstream did not say.
    """
    if usage is not None:
        is_final = is_whole and estimated_input_tokens is not None
        return Measured(usage, UsageSource.REPORTED if is_final else UsageSource.PARTIAL)
    if estimated_input_tokens is None:
        return None
    estimate = Usage(fresh_input=estimated_input_tokens, output=output_chars // CHARS_PER_TOKEN)
    return Measured(estimate, UsageSource.ESTIMATED)


def is_long_talk(prompt_tokens: int, max_output_tokens: int) -> bool:
    """Return whether a prompt and the longest answer to it may outgrow a usual context window."""
    return prompt_tokens + max(LEAST_ANSWER_TOKENS, max_output_tokens) > LONG_TALK_TOKENS
