"""What is asked so that an action is decided in one way: its body, its session, the expected word.

Bodies and sessions have places for marks: `CLIENT` becomes one of each client, `TURN` one of each
question, so that sessions and texts are new as often as a mode needs it. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.bench.shapes import Case, LoadOrder, Mode, Target

CLIENT = "#client-of-bench"
TURN = "#number-of-bench"
"""Both are 16 bytes long, as what replaces them."""

DEAR, CHEAP = "bench-dear", "bench-cheap"
"""A short text is worth the dear model; of a long one the price outweighs the risk."""

CATALOG = """
[[models]]
id = "bench-dear"
tier = "top"
skill = 0.95
context_window = 400000
[[models.bindings]]
provider = "canned-messages"
upstream_id = "bench-burst"
input_usd_per_mtok = 1000.0
output_usd_per_mtok = 1.0

[[models]]
id = "bench-cheap"
tier = "mid"
skill = 0.5
context_window = 400000
[[models.bindings]]
provider = "canned-messages"
upstream_id = "bench-burst"
input_usd_per_mtok = 0.1
output_usd_per_mtok = 1.0
"""

Message = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Question:
    """One question that is decided in one way."""

    session: str
    messages: Sequence[Message]
    expected: str
    """Begin of the decision's name."""
    opening: Sequence[Message] = ()
    """What pins the session; empty: nothing does."""

    def order(self, target: Target, case: Case, seconds: float, warmup_seconds: float) -> LoadOrder:
        """Return the load that asks this of a target."""
        headers = {**target.entrances[case.route].headers, "x-session-id": self.session}
        return LoadOrder(
            port=target.port,
            path=case.route.path,
            headers=headers,
            body=_body(self.messages),
            terminal="",
            clients=case.clients,
            seconds=seconds,
            warmup_seconds=warmup_seconds,
            pids=target.pids,
            opening=_body(self.opening) if self.opening else "",
            expected=f"x-router-decision: {self.expected}",
        )


def text_of(kib: int, mark: str) -> str:
    """Return a text of that size that begins with a mark."""
    words = "the quick brown fox jumps over the lazy dog and "
    return f"{mark} {words * (kib * 1024 // len(words) + 1)}"[: kib * 1024]


def question_of(mode: Mode) -> Question:
    """Return the question of a mode other than `requested`."""
    return _QUESTIONS[mode]


def _user(content: object) -> Message:
    return {"role": "user", "content": content}


def _body(messages: Sequence[Message]) -> str:
    tool = {"name": "look", "description": "Looks", "input_schema": {"type": "object"}}
    fields = {"model": DEAR, "max_tokens": 256, "tools": [tool], "messages": messages}
    return json.dumps(fields)


_GREETING = _user("Prove it.")
_CALL = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
_RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": text_of(1, TURN)}

_QUESTIONS: Mapping[Mode, Question] = {
    Mode.STICKY: Question(
        session=CLIENT,
        opening=[_GREETING],
        messages=[_GREETING, {"role": "assistant", "content": [_CALL]}, _user([_RESULT])],
        expected="sticky",
    ),
    Mode.CACHED: Question(TURN, [_user(text_of(1, "known"))], "cluster:"),
    Mode.SCORED: Question(TURN, [_user(text_of(1, TURN))], "cluster:"),
    Mode.PLANNED: Question(
        session=CLIENT,
        opening=[_GREETING],
        messages=[
            _GREETING,
            {"role": "assistant", "content": text_of(3, "Thus.")},
            _user(text_of(1, TURN)),
        ],
        expected="stay_value_negative",
    ),
}
