"""The newest part of a conversation, cut where it stands by itself, and a body made from it.

A cut never parts a call from its answer. It comes before a person's words, or before a run of the
assistant's; the words that such a run answers then go in front of it, so that the newest wish of
the user is always there. What is kept keeps its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.reading import mapping, text
from services.domain.wire.scanner import Edit
from services.handover.policy.history import Speaker
from services.handover.policy.parts import said
from services.handover.policy.rewrite import MARKER, OPENING, as_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from services.handover.policy.history import History, Message


@dataclass(frozen=True, slots=True)
class Starts:
    """Places among the spoken messages where a kept part may begin, each ascending."""

    prompts: tuple[int, ...]
    """Before a person's words."""
    runs: tuple[int, ...]
    """Before a run of the assistant's that answers some."""

    def __contains__(self, place: int) -> bool:
        """Return whether a kept part may begin there."""
        return place in self.prompts or place in self.runs

    def nearest(self, wanted: int) -> int | None:
        """Return where the messages from ``wanted`` on begin, moved forward; None: nowhere.

        They begin with a person's words where some follow. Without any start the last one counts:
        what belongs together is kept together.
        """
        for places in (self.prompts, self.runs):
            later = next((place for place in places if place >= wanted), None)
            if later is not None:
                return later
        return max((*self.prompts[-1:], *self.runs[-1:]), default=None)


def starts_of(history: History) -> Starts:
    """Return where a kept part of a conversation may begin."""
    spoken = history.spoken
    parted = _parted(spoken)
    prompts: list[int] = []
    runs: list[int] = []
    for place, message in enumerate(spoken):
        if parted[place]:
            continue
        if _is_prompt(message):
            prompts.append(place)
        elif message.speaker is Speaker.ASSISTANT and spoken[place - 1].is_asking and prompts:
            runs.append(place)
    return Starts(tuple(prompts), tuple(runs))


def cut(history: History, start: int, summary: str | None) -> bytes:
    """Return the body with its messages before ``start`` gone, a summary in their place.

    ``start`` is one of its :class:`Starts`. Instructions and tools stay.
    """
    first = history.spoken[start]
    instructions = [m for m in history.messages[: first.place] if m.speaker is Speaker.SYSTEM]
    front: list[str] = []
    if summary is not None:
        front.append(said(history.family, Speaker.USER, OPENING))
        front.append(said(history.family, Speaker.ASSISTANT, f"{MARKER}\n{summary.strip()}"))
    if not _is_prompt(first):
        front.append(_prompt_before(history, start).source)
    kept = history.messages[first.place :]
    if history.family is WireFamily.ANTHROPIC:
        parts = _after_user(front, instructions, kept)
    else:
        parts = [*(m.source for m in instructions), *front, *(m.source for m in kept)]
    span = Edit(history.messages[0].node.start, history.messages[-1].node.end, ",".join(parts))
    return history.document.splice([span])


def prompts(messages: Sequence[Message]) -> Iterator[str]:
    """Yield the words of each message of a person's."""
    for message in messages:
        if _is_prompt(message):
            yield "\n".join(_texts(mapping(message.node.value)))


def _prompt_before(history: History, start: int) -> Message:
    return next(m for m in reversed(history.spoken[:start]) if _is_prompt(m))


def _after_user(
    front: Sequence[str], instructions: Sequence[Message], kept: Sequence[Message]
) -> list[str]:
    """Return the messages with the instructions after the first one, which is the user's.

    Messages takes instructions there alone, and one at a time.
    """
    rest = [m.source for m in kept]
    if front:
        return [front[0], *as_one(instructions), *front[1:], *rest]
    following = list(takewhile(lambda m: m.speaker is Speaker.SYSTEM, kept[1:]))
    together = as_one([*instructions, *following])
    return [rest[0], *together, *rest[1 + len(following) :]]


def _is_prompt(message: Message) -> bool:
    """Return whether a person speaks in a message, and no tool."""
    if message.speaker is not Speaker.USER:
        return False
    value = mapping(message.node.value)
    content = value.get("content") if "content" in value else value.get("parts")
    if isinstance(content, str):
        return bool(content.strip())
    parts = [mapping(part) for part in content] if isinstance(content, list) else []
    is_answer = any(
        part.get("type") == "tool_result" or "functionResponse" in part for part in parts
    )
    return bool(parts) and not is_answer


def _texts(message: Mapping[str, object]) -> Iterator[str]:
    content = message.get("content") if "content" in message else message.get("parts")
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        words = text(mapping(part).get("text"))
        if words:
            yield words


def _parted(spoken: Sequence[Message]) -> list[bool]:
    """Return for each place whether a cut there would part a call from its answer."""
    calls: dict[str, int] = {}
    changes = [0] * (len(spoken) + 1)
    for place, message in enumerate(spoken):
        for call_id in _ids(message, is_call=False):
            begun = calls.get(call_id) if call_id else None
            if begun is not None and begun < place:
                changes[begun + 1] += 1
                changes[place + 1] -= 1
        calls.update(dict.fromkeys(_ids(message, is_call=True), place))
    return [bool(open_count) for open_count in accumulate(changes[:-1])]


def _ids(message: Message, *, is_call: bool) -> Iterator[str]:
    """Yield the ids of the calls that a message makes, or of those that it answers."""
    value = mapping(message.node.value)
    own = text(value.get("call_id"))
    if own:
        is_output = text(value.get("type")).endswith("_output")
        if is_output is not is_call:
            yield own
    if not is_call and (answered := text(value.get("tool_call_id"))):
        yield answered
    listed = value.get("tool_calls")
    for call in listed if is_call and isinstance(listed, list) else ():
        yield text(mapping(call).get("id"))
    parts = value.get("content") if "content" in value else value.get("parts")
    for part in parts if isinstance(parts, list) else ():
        block = mapping(part)
        name = "functionCall" if is_call else "functionResponse"
        yield text(block.get("id" if is_call else "tool_use_id"))
        yield text(mapping(block.get(name)).get("id"))
