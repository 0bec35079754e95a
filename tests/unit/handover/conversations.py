"""Conversations in both dialects, and a strategy that makes them up."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hypothesis import strategies as st

from services.domain.vocab import WireFamily

ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT

Json = dict[str, object]

LONG = "We looked at the parser and decided to keep it. " * 400
"""About 4,800 tokens: worth a summary of 800."""


def body(messages: Sequence[Json], **members: object) -> bytes:
    """Return a body with blanks and an order of its own, which a rewrite must keep."""
    head: Json = {"model": "m-large", "stream": True, **members}
    front = json.dumps(head)[1:-1]
    listed = " , ".join(json.dumps(message, separators=(", ", " : ")) for message in messages)
    return ("{ " + front + ',  "messages" : [ ' + listed + ' ], "zz":1.50 }').encode()


def messages_of(rewritten: bytes) -> list[Json]:
    """Return the messages of a body."""
    listed = json.loads(rewritten)["messages"]
    assert isinstance(listed, list)
    return listed


def user(text: object) -> Json:
    return {"role": "user", "content": text}


def assistant(text: object) -> Json:
    return {"role": "assistant", "content": text}


def tool_loop(
    family: WireFamily, output: str = "two files", *, is_error: bool = False
) -> list[Json]:
    """Return a conversation that ends with a tool's output."""
    if family is ANTHROPIC:
        call: Json = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
        result: Json = {"type": "tool_result", "tool_use_id": "t1", "content": output}
        if is_error:
            result["is_error"] = True
        return [
            user(LONG),
            assistant("Noted."),
            user("List the files"),
            assistant([{"type": "text", "text": "Listing."}, call]),
            user([result]),
        ]
    function = {"name": "Bash", "arguments": '{"command": "ls"}'}
    calls = [{"id": "t1", "type": "function", "function": function}]
    return [
        {"role": "system", "content": "Be brief."},
        user(LONG),
        assistant("Noted."),
        user("List the files"),
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "t1", "content": output},
    ]


_texts = st.text(min_size=1, max_size=30).map(lambda text: f"w{text}")
_anthropic_content = st.one_of(
    _texts,
    st.lists(
        st.one_of(
            _texts.map(lambda text: {"type": "text", "text": text}),
            _texts.map(
                lambda text: {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": text}],
                }
            ),
        ),
        min_size=1,
        max_size=3,
    ),
)
_anthropic_said = st.one_of(
    _texts,
    _texts.map(
        lambda text: [
            {"type": "text", "text": text},
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": text}},
        ]
    ),
)


def _tool(text: str) -> Json:
    return {"role": "tool", "tool_call_id": "t1", "content": text}


def _calling(text: str) -> Json:
    function = {"name": "Read", "arguments": "{}"}
    return assistant(text) | {
        "tool_calls": [{"id": "t1", "type": "function", "function": function}]
    }


_chat_asking = st.one_of(
    _texts.map(user),
    _texts.map(lambda text: user([{"type": "text", "text": text}])),
    _texts.map(_tool),
)
_chat_said = _texts.map(_calling)


def _system(role: str) -> st.SearchStrategy[Json]:
    return _texts.map(lambda text: {"role": role, "content": text})


@st.composite
def histories(draw: st.DrawFn) -> tuple[WireFamily, list[Json]]:
    """Return a family and messages that begin with a person's words and end on the client's side.

    Instructions stand anywhere; runs of one speaker are of any length.
    """
    family = draw(st.sampled_from([ANTHROPIC, CHAT]))
    is_messages = family is ANTHROPIC
    asking = _anthropic_content.map(user) if is_messages else _chat_asking
    said = _anthropic_said.map(assistant) if is_messages else _chat_said
    instructions = _system(
        "system" if is_messages else draw(st.sampled_from(["system", "developer"]))
    )
    messages: list[Json] = [user("first words")]
    for _ in range(draw(st.integers(1, 3))):
        messages += draw(st.lists(said, min_size=1, max_size=2))
        messages += draw(st.lists(instructions, max_size=1))
        messages += draw(st.lists(asking, min_size=1, max_size=3))
        messages += draw(st.lists(instructions, max_size=1))
    return family, messages
