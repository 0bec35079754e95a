"""The models that handover asks, by hand: answers told one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from services.domain.vocab import WireFamily
from services.handover.model import AttemptRow, Call, CallEnd, Sealed, Told


def answer_of(text: str) -> bytes:
    """Return a Messages answer that says ``text``."""
    return orjson.dumps(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


@dataclass(slots=True)
class FakeModels:
    """Ends each question as the next entry says; a text is an answer. The last one repeats."""

    script: list[str | CallEnd] = field(default_factory=lambda: ["the summary"])
    asked: list[Call] = field(default_factory=list)

    async def ask(self, call: Call) -> Told:
        self.asked.append(call)
        step = self.script[min(len(self.asked), len(self.script)) - 1]
        rows = (AttemptRow(call.first_attempt_number, Sealed(b"row")),)
        if isinstance(step, CallEnd):
            return Told(step, rows)
        return Told(CallEnd.ANSWERED, rows, WireFamily.ANTHROPIC, answer_of(step))
