"""Calls next to their results: the order that strict upstreams demand.

After the calls of an assistant turn come all their results, in the order of the calls; what stood
between them moves behind. A call without result gets one that says so; a result without call
becomes user text. No id is ever made up.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from services.domain.wire.labels import UNANSWERED_CALL_TEXT, orphan_label
from services.domain.wire.model import (
    Role,
    Text,
    ToolResult,
    ToolUse,
    Transform,
    TransformAction,
    Turn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import Block

_Place = tuple[int, int]


def paired(turns: Sequence[Turn], transforms: list[Transform]) -> list[tuple[int, Turn]]:
    """Return the turns to send, each with its place among ``turns``.

    Results come in turns of their own, directly behind their calls and with the same place.
    """
    answers, results = _match(turns)
    sent: list[tuple[int, Turn]] = []
    at = 0
    while at < len(turns):
        turn = turns[at]
        if turn.role is not Role.ASSISTANT:
            rest = _without(turn, at, results, transforms)
            if rest is not None:
                sent.append((at, rest))
            at += 1
            continue
        end = _group_end(turns, at, answers)
        places = [
            ((index, place), block)
            for index in range(at, end)
            for place, block in enumerate(turns[index].blocks)
        ]
        said = [block for _, block in places if not isinstance(block, ToolUse)]
        calls = [(place, block) for place, block in places if isinstance(block, ToolUse)]
        sent.append((at, replace(turn, blocks=(*said, *(block for _, block in calls)))))
        if calls:
            found = tuple(_answer(place, call, answers, turns, transforms) for place, call in calls)
            sent.append((at, Turn(Role.USER, found, turn.origin_index)))
        at = end
    return sent


def without_repeats(turns: Sequence[Turn], transforms: list[Transform]) -> tuple[Turn, ...]:
    """Return the turns without results that a turn tells twice, as one client's resumed ones do.

    A result that a call still waits for is kept: ids may come again.
    """
    waiting: Counter[str] = Counter()
    return tuple(_told_once(turn, waiting, transforms) for turn in turns)


def _told_once(turn: Turn, waiting: Counter[str], transforms: list[Transform]) -> Turn:
    kept: list[Block] = []
    told: set[tuple[str, tuple[Block, ...], bool]] = set()
    for block in turn.blocks:
        if isinstance(block, ToolUse):
            waiting[block.call_id] += 1
        elif isinstance(block, ToolResult):
            content = (block.call_id, block.blocks, block.is_error)
            if not waiting[block.call_id] and content in told:
                path = f"messages[{turn.origin_index}]"
                transforms.append(Transform("repeated_result", TransformAction.DROPPED, path))
                continue
            waiting[block.call_id] -= bool(waiting[block.call_id])
            told.add(content)
        kept.append(block)
    return turn if len(kept) == len(turn.blocks) else replace(turn, blocks=tuple(kept))


def _match(turns: Sequence[Turn]) -> tuple[dict[_Place, _Place], set[_Place]]:
    """Return the place of the result of each answered call, and all those places."""
    waiting: dict[str, deque[_Place]] = defaultdict(deque)
    answers: dict[_Place, _Place] = {}
    for index, turn in enumerate(turns):
        for place, block in enumerate(turn.blocks):
            if isinstance(block, ToolUse) and turn.role is Role.ASSISTANT:
                waiting[block.call_id].append((index, place))
            elif isinstance(block, ToolResult) and waiting[block.call_id]:
                answers[waiting[block.call_id].popleft()] = (index, place)
    return answers, set(answers.values())


def _group_end(turns: Sequence[Turn], start: int, answers: dict[_Place, _Place]) -> int:
    """Return the end of the assistant turns that are one: results of the first come after all."""
    calls = [
        (start, place)
        for place, block in enumerate(turns[start].blocks)
        if isinstance(block, ToolUse)
    ]
    last_answer = max((answers[call][0] for call in calls if call in answers), default=-1)
    end = start + 1
    while calls and end < min(last_answer, len(turns)) and turns[end].role is Role.ASSISTANT:
        end += 1
    return end


def _answer(
    place: _Place,
    call: ToolUse,
    answers: dict[_Place, _Place],
    turns: Sequence[Turn],
    transforms: list[Transform],
) -> Block:
    found = answers.get(place)
    if found is not None:
        return turns[found[0]].blocks[found[1]]
    path = f"messages[{turns[place[0]].origin_index}]"
    transforms.append(Transform("unanswered_call", TransformAction.SYNTHESISED, path))
    return ToolResult(call.call_id, (Text(UNANSWERED_CALL_TEXT),), is_error=True, name=call.name)


def _without(turn: Turn, at: int, results: set[_Place], transforms: list[Transform]) -> Turn | None:
    """Return a user turn without the results that moved; None when nothing is left of it."""
    rest: list[Block] = []
    for place, block in enumerate(turn.blocks):
        if (at, place) in results:
            continue
        if isinstance(block, ToolResult):
            path = f"messages[{turn.origin_index}]"
            transforms.append(Transform("orphan_result", TransformAction.FLATTENED, path))
            rest += [Text(orphan_label(block.call_id)), *block.blocks]
        else:
            rest.append(block)
    if not rest and turn.blocks:
        return None
    return replace(turn, blocks=tuple(rest))
