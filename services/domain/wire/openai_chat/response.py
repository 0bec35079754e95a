"""Whole answers of this dialect, to and from canonical ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.assemble import shown_usage, without_half_call
from services.domain.wire.custom_tools import input_of
from services.domain.wire.ids import made_call_id
from services.domain.wire.model import (
    Refusal,
    Response,
    Text,
    Thinking,
    ToolUse,
    WireError,
)
from services.domain.wire.openai_chat.calls import Call, called_by, complete_calls
from services.domain.wire.openai_chat.message import (
    content_of,
    reasoning_of,
    refusal_of,
)
from services.domain.wire.openai_chat.stops import finish_of, stop_of
from services.domain.wire.openai_chat.tools import custom_names
from services.domain.wire.openai_chat.usage import UsageCount, usage_member
from services.domain.wire.reading import (
    dump,
    join_surrogates,
    mapping,
    peek,
    rows,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.domain.wire.model import Block, RenderContext


def decode_response(body: bytes) -> Response:
    """Return the canonical form of a whole answer; of several choices the first counts.

    Raises:
        WireError: the body is no answer, an error body included.
    """
    answer = peek(body)
    if not isinstance(answer, dict):
        raise WireError("", "answer is not a JSON object")
    if answer.get("error"):
        raise WireError("error", "answer is an error")
    choices = rows(answer.get("choices"))
    if not choices:
        raise WireError("choices", "answer has no choice")
    choice = mapping(choices[0])
    message = choice.get("message")
    if not isinstance(message, dict):
        raise WireError("choices[0].message", "answer has no message")
    response_id = text(answer.get("id"))
    finish = text(choice.get("finish_reason"))
    if finish == "error":
        raise WireError("choices[0].finish_reason", "answer is an error")
    calls = _calls(message, response_id, is_cut=finish == "length")
    words = _words(message)
    has_refusal = any(isinstance(block, Refusal) for block in words)
    return Response(
        id=response_id,
        model=text(answer.get("model")),
        blocks=(*words, *calls),
        stop=stop_of(finish, has_calls=bool(calls), has_refusal=has_refusal),
        usage=UsageCount().add(answer.get("usage")),
    )


def _words(message: Mapping[str, object]) -> tuple[Block, ...]:
    blocks: list[Block] = []
    if reasoning := reasoning_of(message):
        blocks.append(Thinking(join_surrogates(reasoning)))
    if content := content_of(message):
        blocks.append(Text(join_surrogates(content)))
    if refusal := refusal_of(message):
        blocks.append(Refusal(join_surrogates(refusal)))
    return tuple(blocks)


def _calls(message: Mapping[str, object], response_id: str, *, is_cut: bool) -> tuple[ToolUse, ...]:
    calls: list[Call] = []
    legacy = message.get("function_call")
    told = [{"function": legacy}] if isinstance(legacy, dict) else []
    for fragment in (*rows(message.get("tool_calls")), *told):
        call_id = text(mapping(fragment).get("id"))
        call = Call("" if any(call_id == other.call_id for other in calls) else call_id)
        call.add(called_by(mapping(fragment)))
        calls.append(call)
    return tuple(
        ToolUse(
            call_id=call.call_id or made_call_id(response_id, ordinal),
            name=call.name,
            arguments=join_surrogates(call.text()).encode(),
        )
        for ordinal, call in enumerate(complete_calls(calls, is_cut=is_cut))
    )


def encode_response(response: Response, context: RenderContext) -> bytes:
    """Return ``response`` as a ``chat.completion`` body; texts are joined without separator.

    Raises:
        MalformedCallError: a call of a custom tool is not its one text.
    """
    blocks = without_half_call(response.blocks, response.stop)
    calls = [block for block in blocks if isinstance(block, ToolUse)]
    refusal = "".join(block.text for block in blocks if isinstance(block, Refusal))
    finish = finish_of(response.stop, has_calls=bool(calls), has_refusal=bool(refusal))
    content = "".join(block.text for block in blocks if isinstance(block, Text))
    message: dict[str, object] = {"role": "assistant", "content": content or None}
    message["refusal"] = refusal or None
    reasoning = "".join(block.text for block in blocks if isinstance(block, Thinking))
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        customs = custom_names(context.tools)
        message["tool_calls"] = [call_member(call, customs) for call in calls]
    answer: dict[str, object] = {
        "id": context.new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": context.created_unix_s,
        "model": context.model_id,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage_member(shown_usage(response, context)),
    }
    return dump(answer)


def call_member(call: ToolUse, customs: frozenset[str]) -> dict[str, object]:
    """Return a call in the form in which the client declared its tool.

    Raises:
        MalformedCallError: a call of a custom tool is not its one text.
    """
    if call.name in customs:
        custom = {"name": call.name, "input": input_of(call.arguments)}
        return {"id": call.call_id, "type": "custom", "custom": custom}
    arguments = call.arguments.decode("utf-8", "replace").strip() or "{}"
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.call_id, "type": "function", "function": function}
