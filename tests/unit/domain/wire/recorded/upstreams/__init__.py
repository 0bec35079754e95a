"""Upstreams as plain as can be: they read requests member by member and know no codec.

What the strict ones refuse fails here: roles that do not alternate, calls without a result right
behind them, results without a call, empty texts.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from tests.unit.domain.wire.recorded.upstreams import chat, gemini, messages, responses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.unit.domain.wire.recorded.requests import Asked, Entry
    from tests.unit.domain.wire.recorded.upstreams.plain import Json


def read(family: WireFamily, body: bytes) -> Asked:
    """Return what an upstream of the family reads of a request.

    Raises:
        AssertionError: such an upstream would refuse the request.
    """
    asked = _READ[family](json.loads(body))
    _assert_paired(asked.entries)
    return asked


def _assert_paired(entries: Iterable[Entry]) -> None:
    """Assert that each group of calls is followed by all its results at once, in their order."""
    waiting: list[str] = []
    is_answering = False
    for entry in entries:
        if entry.kind == "call":
            assert not is_answering, "a call while results are due"
            waiting.append(entry.call)
        elif entry.kind == "result":
            assert waiting, "a result that nobody waits for"
            assert entry.call == waiting.pop(0)
            is_answering = bool(waiting)
        else:
            assert entry.role == "assistant" or not waiting, "results are due"
    assert not waiting


_READ: Mapping[WireFamily, Callable[[Json], Asked]] = {
    WireFamily.ANTHROPIC: messages.asked_in_messages,
    WireFamily.OPENAI_CHAT: chat.asked_in_chat,
    WireFamily.OPENAI_RESPONSES: responses.asked_in_responses,
    WireFamily.GEMINI: gemini.asked_in_contents,
}
