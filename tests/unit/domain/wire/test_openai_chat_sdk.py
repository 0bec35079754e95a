"""What the vendor's own SDK makes of our streams and answers."""

from __future__ import annotations

from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessageFunctionToolCall,
)

from services.domain.wire.model import (
    BlockClose,
    BlockDelta,
    BlockOpen,
    End,
    Response,
    Start,
    Stop,
    StopReason,
    Text,
    ToolUse,
    Usage,
)
from services.domain.wire.openai_chat import CODEC
from tests.unit.domain.wire.contexts import context
from tests.unit.domain.wire.openai_chat_cases import encoded

STOP = Stop(StopReason.TOOL_USE)


def test_the_sdk_assembles_the_stream_to_the_whole_answer() -> None:
    chunks = encoded(
        [
            Start("m", "up"),
            BlockOpen(0, "text"),
            BlockDelta(0, "hi"),
            BlockClose(0),
            BlockOpen(1, "tool_use", "a", "f"),
            BlockDelta(1, '{"x":'),
            BlockDelta(1, "1}"),
            BlockClose(1),
            BlockOpen(2, "tool_use", "b", "g"),
            BlockClose(2),
            End(STOP, Usage(3, output=4)),
        ]
    )
    state = ChatCompletionStreamState()
    for chunk in chunks[:-1]:
        state.handle_chunk(ChatCompletionChunk.model_validate(chunk))
    streamed = state.get_final_completion()
    blocks = (Text("hi"), ToolUse("a", "f", b'{"x":1}'), ToolUse("b", "g", b"{}"))
    response = Response("m", "up", blocks, STOP, Usage(3, output=4))
    whole = ChatCompletion.model_validate_json(CODEC.encode_response(response, context()))
    assert streamed.choices[0].finish_reason == whole.choices[0].finish_reason == "tool_calls"
    assert streamed.choices[0].message.content == whole.choices[0].message.content == "hi"
    assert streamed.usage == whole.usage
    found = [
        [(call.id, call.function.name, call.function.arguments) for call in calls or ()]
        for calls in (streamed.choices[0].message.tool_calls, _functions(whole))
    ]
    assert found[0] == found[1] == [("a", "f", '{"x":1}'), ("b", "g", "{}")]


def _functions(answer: ChatCompletion) -> list[ChatCompletionMessageFunctionToolCall]:
    calls = answer.choices[0].message.tool_calls or []
    return [call for call in calls if isinstance(call, ChatCompletionMessageFunctionToolCall)]
