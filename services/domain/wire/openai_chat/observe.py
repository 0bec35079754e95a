"""Watching a chat stream that passes byte for byte: progress, terminal, usage and errors."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.domain.sse import parse_frame
from services.domain.wire.observer import StreamObserver
from services.domain.wire.openai_chat.calls import called_by
from services.domain.wire.openai_chat.error import error_of
from services.domain.wire.openai_chat.message import content_of, reasoning_of, refusal_of
from services.domain.wire.openai_chat.stops import stop_of
from services.domain.wire.openai_chat.usage import UsageCount
from services.domain.wire.reading import mapping, rows, text, whole
from services.domain.wire.words import NUMBER, TEXT, WORDS, characters_of

if TYPE_CHECKING:
    from services.domain.sse import Frame

_FACT = (
    rb'(?:"(?:id|object|model|system_fingerprint|service_tier|provider|obfuscation)": ?(?:%b|null)'
    rb'|"created": ?%b|"usage": ?null)' % (TEXT, NUMBER)
)
_PLAIN_HEAD = re.compile(
    rb'data: \{(?:%b, ?)*+"choices": ?\[\{"index": ?(%b), ?"delta": ?'
    rb'\{(?:"role": ?"assistant", ?)?+"content": ?"' % (_FACT, NUMBER)
)
"""Begins a delta of text in the form that vendors send; its choice is the group."""
_PLAIN_REST = re.compile(
    rb'%b"\}(?:, ?"logprobs": ?null)?+(?:, ?"finish_reason": ?null)?+\}\](?:, ?%b)*+\}\n\n'
    % (WORDS, _FACT)
)
"""Ends such a delta; its words are the group."""
_NO_HEAD = b"\x00"


class ChatStreamObserver(StreamObserver):
    """Takes note of one stream. Output is text, reasoning, refusal and tool calls.

    Frames that only name the role, carry nothing or count usage are bookkeeping. The terminal is a
    finish reason for every choice that was started, or the end mark.
    """

    _plain_head = _PLAIN_HEAD

    def __init__(self) -> None:
        super().__init__()
        self._head = _NO_HEAD
        self._head_index = 0
        self._usage = UsageCount()
        self._open_choices: set[int] = set()
        self._closed_choices: set[int] = set()
        self._is_done = False
        self._calls: set[tuple[int, str | int]] = set()
        self._finish = ""

    def feed(self, data: bytes) -> None:
        """Take note of ``data``; unreadable frames are counted and passed over."""
        for raw in self._splitter.cut(data):
            characters = self._plain_characters(raw)
            if characters:
                self._plain_delta(characters)
            elif (frame := parse_frame(raw)) is not None:
                self._read(frame)

    def _plain_characters(self, raw: bytes) -> int:
        """Return how many characters a delta of known form has; 0: it has to be parsed.

        All deltas of a choice begin alike, so what was matched once is only compared.
        """
        if not raw.startswith(self._head):
            head = self._plain_head.match(raw)
            if head is None:
                return 0
            self._head, self._head_index = head[0], int(head[1])
        rest = _PLAIN_REST.fullmatch(raw, len(self._head))
        return characters_of(rest[1]) if rest else 0

    def _plain_delta(self, characters: int) -> None:
        if self._seen.error is None:
            self._seen.is_started = True
            self._touch(self._head_index)
            self._output(characters)

    def _read(self, frame: Frame) -> None:
        seen = self._seen
        if seen.error is not None or not frame.data:
            return
        if frame.data[:6] == b"[DONE]":
            self._is_done = True
            if seen.is_started:
                self._terminal()
            return
        chunk = self._told(frame)
        if chunk is None:
            return
        seen.is_started = True
        if chunk.get("error"):
            self._error(chunk)
            return
        for choice in rows(chunk.get("choices")):
            if isinstance(choice, dict):
                self._choice(choice)
        if chunk.get("usage"):
            seen.usage = self._usage.add(chunk["usage"]) or seen.usage

    def _error(self, chunk: dict[str, object]) -> None:
        if not self._seen.has_terminal:
            self._fail(error_of(502, chunk))

    def _choice(self, choice: dict[str, object]) -> None:
        index = whole(choice.get("index")) or 0
        self._touch(index)
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            self._delta(delta, index)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            if index == 0 or not self._finish:
                self._finish = finish
            self._open_choices.discard(index)
            self._closed_choices.add(index)
            if finish == "error":
                self._error(choice)
                return
            if finish == "content_filter":
                self._seen.refusal_seen = True
            if not self._open_choices:
                self._terminal()

    def _touch(self, index: int) -> None:
        """Take note that a choice goes on."""
        if index not in self._closed_choices:
            self._open_choices.add(index)
            self._seen.has_terminal = self._is_done

    def _delta(self, delta: dict[str, object], index: int) -> None:
        content = delta.get("content")
        chars = len(content) if isinstance(content, str) else len(content_of(delta))
        if len(delta) > 1 or not chars:
            chars += len(reasoning_of(delta))
            refusal = len(refusal_of(delta))
            if refusal:
                self._seen.refusal_seen = True
            chars += refusal + self._call_chars(delta, index)
        if chars:
            self._output(chars)

    def _call_chars(self, delta: dict[str, object], index: int) -> int:
        """Return the characters of tool calls in a delta, and count calls that are new."""
        fragments = [mapping(raw) for raw in rows(delta.get("tool_calls"))]
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            fragments.append({"index": 0, "function": legacy})
        chars = 0
        for fragment in fragments:
            call_id, called = text(fragment.get("id")), called_by(fragment)
            chars += len(called.name) + len(called.words)
            if call_id or called.name:
                self._calls.add((index, call_id or whole(fragment.get("index")) or 0))
        self._seen.tool_calls = len(self._calls)
        return chars

    def _terminal(self) -> None:
        seen = self._seen
        if seen.has_terminal:
            return
        self._output(0)
        seen.has_terminal = True
        seen.stop = stop_of(
            self._finish, has_calls=bool(self._calls), has_refusal=seen.refusal_seen
        )
