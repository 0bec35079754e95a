"""Which turn of an agent, and which step of it, a request asks for. Pure.

Both are counted in the history that the client sends: after a cut they begin anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.wire.model import Role, ToolResult

if TYPE_CHECKING:
    from services.domain.wire.model import Request, Turn


def step_of(request: Request) -> tuple[int, int]:
    """Return the agent's turn and the step in it that a request asks for, both from 1."""
    turn, step = 0, 1
    for said in request.turns:
        if said.role is Role.ASSISTANT:
            step += 1
        elif _is_spoken(said) and (step > 1 or not turn):
            turn, step = turn + 1, 1
    return max(turn, 1), step


def _is_spoken(turn: Turn) -> bool:
    """Return whether a turn is a person's: what tools answered is part of the agent's."""
    return turn.role is Role.USER and not any(isinstance(part, ToolResult) for part in turn.blocks)
