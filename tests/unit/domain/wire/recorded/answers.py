"""What the recorded answers say, in no dialect, and how each client dialect must word it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.model import StopReason

if TYPE_CHECKING:
    from collections.abc import Mapping

A, O = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT  # noqa: E741 - the names of the matrix
R, G = WireFamily.OPENAI_RESPONSES, WireFamily.GEMINI

Call = tuple[str, dict[str, object]]
"""Name and arguments of a call."""


@dataclass(frozen=True, slots=True)
class Said:
    """What one answer says; its upstream counts 1000 tokens read, 900 of them cached, 40 written.

    12 of the 40 were spent on reasoning, where the upstream tells that.
    """

    stop: StopReason = StopReason.END_TURN
    text: str = ""
    thinking: str = ""
    refusal: str = ""
    """Words that the vendor reports as a refusal of its own kind."""
    calls: tuple[Call, ...] = ()


F: Call = ("f", {"path": "ä/ö", "n": 12345678901234567890})
CALL_G: Call = ("g", {"list": [1, 2.5, "x"], "on": True})
WORDS = "Grüß Gott, 世界 😀"
PLAN = "Plan: é, then 😀."

ANSWERS: Mapping[str, Said] = {
    "text": Said(text=WORDS),
    "one_tool": Said(StopReason.TOOL_USE, "I look.", calls=(F,)),
    "parallel_tools": Said(StopReason.TOOL_USE, calls=(F, CALL_G)),
    "interleaved_tools": Said(StopReason.TOOL_USE, calls=(F, CALL_G)),
    "no_arguments": Said(StopReason.TOOL_USE, calls=(("now", {}),)),
    "signed_thinking": Said(StopReason.TOOL_USE, "Done.", PLAN, calls=(F,)),
    "plain_thinking": Said(text="Done.", thinking=PLAN),
    "hidden_thinking": Said(text="Done."),
    "filtered": Said(StopReason.REFUSAL, "It begins "),
    "refused_in_words": Said(StopReason.REFUSAL, refusal="I will not."),
    "blocked": Said(StopReason.REFUSAL),
    "length": Said(StopReason.MAX_TOKENS, "It never "),
    "length_in_call": Said(StopReason.MAX_TOKENS, "I write.", calls=(F,)),
    "stop_sequence": Said(StopReason.STOP_SEQUENCE, "one, two"),
    "usage_before": Said(text=WORDS),
    "usage_with_end": Said(text=WORDS),
    "usage_after": Said(text=WORDS),
}

CALL_IDS: Mapping[WireFamily, tuple[str, ...]] = {
    A: ("toolu_01",),
    O: ("call_",),
    R: ("call_",),
    G: ("call_",),
}
"""How the id of the first call begins; the one dialect whose vendor gives none has made ones."""

STOPS: Mapping[WireFamily, Mapping[StopReason, str]] = {
    A: {
        StopReason.END_TURN: "end_turn",
        StopReason.TOOL_USE: "tool_use",
        StopReason.STOP_SEQUENCE: "stop_sequence END",
        StopReason.MAX_TOKENS: "max_tokens",
        StopReason.REFUSAL: "refusal",
    },
    O: {
        StopReason.END_TURN: "stop",
        StopReason.TOOL_USE: "tool_calls",
        StopReason.STOP_SEQUENCE: "stop",
        StopReason.MAX_TOKENS: "length",
        StopReason.REFUSAL: "content_filter",
    },
    R: {
        StopReason.END_TURN: "completed",
        StopReason.TOOL_USE: "completed",
        StopReason.STOP_SEQUENCE: "completed",
        StopReason.MAX_TOKENS: "incomplete max_output_tokens",
        StopReason.REFUSAL: "incomplete content_filter",
    },
    G: {
        StopReason.END_TURN: "STOP",
        StopReason.TOOL_USE: "STOP",
        StopReason.STOP_SEQUENCE: "STOP",
        StopReason.MAX_TOKENS: "MAX_TOKENS",
        StopReason.REFUSAL: "SAFETY",
    },
}
"""The word for each stop in each dialect."""

STOPS_OF_WORDED_REFUSALS = {O: "stop", R: "completed"}
"""Dialects with a place for the words of a refusal do not cut the answer for it."""

FAILURES: Mapping[WireFamily, Mapping[WireFamily, str]] = {
    A: {A: "overloaded_error", O: "overloaded", R: "overloaded", G: "503 UNAVAILABLE"},
    O: {A: "api_error", O: "server_error", R: "server_error", G: "500 INTERNAL"},
    R: {A: "api_error", O: "server_error", R: "server_error", G: "500 INTERNAL"},
    G: {A: "overloaded_error", O: "unavailable", R: "unavailable", G: "503 UNAVAILABLE"},
}
"""The error that clients see, by the upstream whose recorded stream fails."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Counts as a client reads them; ``reasoning`` is None where the dialect does not tell it."""

    prompt: int
    cached: int
    output: int
    reasoning: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """What a client reads of one answer."""

    text: str = ""
    thinking: str = ""
    refusal: str = ""
    calls: tuple[Call, ...] = ()
    stop: str = ""
    usage: Usage | None = None
    call_ids: tuple[str, ...] = ()
    model: str = ""
    error: str = ""
    """Type, code or status of the error that ended a stream, by dialect."""


def expected(case: str, client: WireFamily, upstream: WireFamily) -> Told:
    """Return what a client of one dialect reads of an answer case, less the ids of its calls."""
    said = ANSWERS[case]
    is_worded = bool(said.refusal) and client in STOPS_OF_WORDED_REFUSALS
    # A blocked prompt has no answer to count in the one dialect that blocks prompts.
    is_unsaid = case == "blocked" and upstream is G
    reasoning = 0 if upstream is A or is_unsaid else 12
    return Told(
        text=said.text if is_worded else said.text + said.refusal,
        thinking=said.thinking,
        refusal=said.refusal if is_worded else "",
        calls=said.calls,
        stop=STOPS_OF_WORDED_REFUSALS[client] if is_worded else STOPS[client][said.stop],
        usage=Usage(1000, 900, 0 if is_unsaid else 40, None if client is A else reasoning),
        model="routed-model",
    )
