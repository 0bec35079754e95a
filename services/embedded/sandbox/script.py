"""Decides what the sandbox answers: fixed rules, and a small language for trying things out.

A line of the last user text that starts with ``sandbox:`` is an order; several are done in turn::

    sandbox: say TEXT             answers that text
    sandbox: call NAME {json}     calls the tool NAME, if the request offers it
    sandbox: stop length          ends as if the output limit were reached
    sandbox: error 429            answers that HTTP status

After a tool result the answer tells its size and nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import orjson

from services.embedded.sandbox.instance import instance
from services.embedded.sandbox.prompt import Prompt

GREETING = (
    "Hello from the Pointsman sandbox. No model was asked and nothing was paid: this text is the "
    "same every time. Set a provider key, such as ANTHROPIC_API_KEY, to be served by a real model."
)
CHARS_PER_TOKEN = 4

_ORDER = re.compile(r"^\s*sandbox:\s*(say|call|stop|error)\s+(.*?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: the tool and its arguments as JSON text."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back; an ``error_status`` other than 0 stands in place of everything else."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    is_cut: bool = False
    """Whether the output limit ended it."""
    error_status: int = 0

    @property
    def token_count(self) -> int:
        """Tokens of the answer, at least one."""
        length = len(self.text) + sum(len(call.arguments) for call in self.calls)
        return max(1, -(-length // CHARS_PER_TOKEN))


def answer(prompt: Prompt) -> Answer:
    """Return the answer to a prompt; the same prompt always gets the same."""
    if prompt.result_sizes:
        return _limited(Answer(_sizes(prompt.result_sizes)), prompt)
    if prompt.forced_tool:
        arguments = instance(prompt.tools[prompt.forced_tool])
        ordered = _ordered(prompt)
        return replace(
            ordered,
            text="",
            calls=ordered.calls or (Call(prompt.forced_tool, _json(arguments or {})),),
        )
    if prompt.schema is not None:
        return Answer(_json(instance(prompt.schema)))
    return _limited(_ordered(prompt), prompt)


def _ordered(prompt: Prompt) -> Answer:
    said: list[str] = []
    calls: list[Call] = []
    is_cut = False
    for verb, words in _ORDER.findall(prompt.text):
        match verb:
            case "say":
                said.append(words)
            case "call":
                said, calls = _called(prompt, words, said, calls)
            case "stop":
                is_cut = is_cut or words == "length"
            case _ if words.isdigit() and 400 <= int(words) <= 599:
                return Answer(error_status=int(words))
    text = "\n".join(said) if said or calls else GREETING
    return Answer(text, tuple(calls), is_cut=is_cut)


def _called(
    prompt: Prompt, words: str, said: list[str], calls: list[Call]
) -> tuple[list[str], list[Call]]:
    name, _, raw = words.partition(" ")
    try:
        arguments = orjson.loads(raw or "{}")
    except orjson.JSONDecodeError:
        return [*said, "The arguments of that call are not JSON."], calls
    if not isinstance(arguments, dict):
        return [*said, "The arguments of that call are not a JSON object."], calls
    if name not in prompt.tools:
        return [*said, "No tool of that name is offered."], calls
    return said, [*calls, Call(name, _json(arguments))]


def _limited(whole: Answer, prompt: Prompt) -> Answer:
    limit = prompt.max_output_tokens
    if limit is None or whole.error_status or whole.token_count <= limit:
        return whole
    return Answer(whole.text[: max(1, limit * CHARS_PER_TOKEN)], is_cut=True)


def _sizes(sizes: tuple[int, ...]) -> str:
    if len(sizes) == 1:
        return f"The tool answered with {sizes[0]} characters."
    return f"The tools answered with {', '.join(map(str, sizes))} characters."


def _json(value: object) -> str:
    return orjson.dumps(value).decode()
