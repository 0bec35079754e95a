"""The ledger of the tool calls of one stream: whose fragment is it, and what is the whole call.

Upstreams repeat indexes, leave out ids or indexes, send ids late, names after arguments, and the
whole arguments again at the end. Calls are kept until the stream ends and handed out one after
another in the order in which they were first seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from services.domain.wire.custom_tools import arguments_of
from services.domain.wire.reading import is_object, mapping, text, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Called(NamedTuple):
    """What one fragment says of its call: ``words`` are arguments, or a custom tool's free text."""

    name: str
    words: str
    is_custom: bool = False


def called_by(fragment: Mapping[str, object]) -> Called:
    """Return what one element of ``tool_calls`` says of its call."""
    custom = fragment.get("custom")
    if isinstance(custom, dict):
        return Called(text(custom.get("name")), text(custom.get("input")), is_custom=True)
    function = mapping(fragment.get("function"))
    return Called(text(function.get("name")), text(function.get("arguments")))


class Call:
    """One call as far as it is known."""

    __slots__ = ("arguments", "call_id", "is_custom", "name")

    def __init__(self, call_id: str) -> None:
        self.call_id = call_id
        self.name = ""
        self.is_custom = False
        self.arguments: list[str] = []

    def add(self, called: Called) -> None:
        """Take the name and the arguments of one fragment; a full repeat changes nothing."""
        self.name = self.name or called.name
        self.is_custom = self.is_custom or called.is_custom
        if called.words and not self._is_repeat(called.words, is_named=bool(called.name)):
            self.arguments.append(called.words)

    def _is_repeat(self, arguments: str, *, is_named: bool) -> bool:
        """Whether a fragment replaces what is complete already.

        Nothing can continue a complete object, so an object after one is the same call told again
        (or the real arguments after an empty placeholder); a fragment that is named again and
        extends the text so far is the whole text again.
        """
        if self.is_custom or not self.arguments or not arguments.startswith("{"):
            return False
        so_far = "".join(self.arguments)
        is_longer = is_named and arguments.startswith(so_far) and is_object(arguments)
        if is_longer or is_object(so_far):
            self.arguments = [arguments]
            return True
        return False

    def text(self) -> str:
        """Return the arguments as JSON text; none at all are the empty object."""
        whole_text = "".join(self.arguments)
        if self.is_custom:
            return arguments_of(whole_text).decode()
        return whole_text if whole_text.strip() not in ("", "null") else "{}"


class CallLedger:
    """The calls of one choice, keyed by id first and by announced index second."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._by_id: dict[str, Call] = {}
        self._by_index: dict[int, Call] = {}
        self._current: Call | None = None

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, raw: object) -> None:
        """Take one element of ``delta.tool_calls``."""
        fragment = mapping(raw)
        called = called_by(fragment)
        call = self._owner(text(fragment.get("id")), whole(fragment.get("index")), called)
        if call is not None:
            call.add(called)
            self._current = call

    def add_legacy(self, raw: object) -> None:
        """Take a ``delta.function_call``: the one call of the old form, without id and index."""
        if isinstance(raw, dict):
            self.add({"index": 0, "function": raw})

    def _owner(self, call_id: str, index: int | None, called: Called) -> Call | None:
        known = self._by_id.get(call_id) if call_id else None
        if known is not None:
            return known
        announced = self._by_index.get(index) if index is not None else None
        if call_id:
            if announced is not None and not announced.call_id:
                announced.call_id = call_id
                self._by_id[call_id] = announced
                return announced
            return self._open(call_id, index)
        if announced is not None:
            return announced
        if index is not None or self._current is None or self._names_another(called):
            return self._open("", index) if called.name or called.words else None
        return self._current

    def _names_another(self, called: Called) -> bool:
        """Whether a fragment without id and index begins a call rather than continues one."""
        current = self._current
        if current is None or not called.name or not current.name:
            return False
        return is_object(current.text()) and bool(called.words)

    def _open(self, call_id: str, index: int | None) -> Call:
        call = Call(call_id)
        self._calls.append(call)
        if call_id:
            self._by_id[call_id] = call
        if index is not None:
            self._by_index[index] = call
        return call

    def complete(self, *, is_cut: bool) -> Iterator[Call]:
        """Return the calls in first-seen order; nameless ones are dropped.

        ``is_cut``: the output limit ended the answer, so a last call whose arguments do not parse
        is half a call and must not be executed.
        """
        return complete_calls(self._calls, is_cut=is_cut)


def complete_calls(calls: Sequence[Call], *, is_cut: bool) -> Iterator[Call]:
    """Yield ``calls`` without nameless ones and, after a cut, without a last half one.

    A last call whose arguments had not begun counts as half: what it was to do is not known.
    """
    for call in calls:
        is_half = is_cut and call is calls[-1] and not is_object("".join(call.arguments))
        if call.name and not is_half:
            yield call
