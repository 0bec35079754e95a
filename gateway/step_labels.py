"""What people call an action in the log: ``A2_S4``, the fourth step of the agent's second turn;
``A2_S4_SA1_S2``, the second step of the first agent that was begun there."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gateway.turns.steps import step_of
from services.domain.vocab import TurnType

if TYPE_CHECKING:
    from gateway.model import Action

MAX_CONVERSATIONS = 4096
MAX_AGENTS = 64
_OWN_STEPS = frozenset({TurnType.MAIN_LOOP, TurnType.TOOL_RESULT})


@dataclass(slots=True)
class _Conversation:
    latest: str = ""
    """The latest step of its main loop."""
    agents: dict[bytes, str] = field(default_factory=dict)
    """Label of each agent that was begun in it, by its thread."""


class StepLabels:
    """Labels the steps of all conversations; mutable, of this process alone.

    An agent whose conversation is not known here, or is not named, is the first of nowhere:
    ``SA1_S1``.
    """

    def __init__(
        self, max_conversations: int = MAX_CONVERSATIONS, max_agents: int = MAX_AGENTS
    ) -> None:
        self._max_conversations = max_conversations
        self._max_agents = max_agents
        self._conversations: OrderedDict[bytes, _Conversation] = OrderedDict()

    def of(self, action: Action) -> str:
        """Return the label of an action; empty: it is no step, as probes and titles are not."""
        turn, step = step_of(action.request)
        if action.turn_type is TurnType.SUB_AGENT_DISPATCH:
            return f"{self._agent_of(action)}_S{step}"
        if action.turn_type not in _OWN_STEPS:
            return ""
        label = f"A{turn}_S{step}"
        self._conversation_of(action).latest = label
        return label

    def _agent_of(self, action: Action) -> str:
        conversation, thread = self._conversation_of(action), action.caller.thread_key
        label = conversation.agents.get(thread)
        if label is None:
            parent = f"{conversation.latest}_" if conversation.latest else ""
            prefix = f"{parent}SA"
            number = 1 + sum(one.startswith(prefix) for one in conversation.agents.values())
            label = f"{prefix}{number}"
            if len(conversation.agents) < self._max_agents:
                conversation.agents[thread] = label
        return label

    def _conversation_of(self, action: Action) -> _Conversation:
        known, key = self._conversations, action.caller.conversation_key
        found = known.setdefault(key, _Conversation())
        known.move_to_end(key)
        if len(known) > self._max_conversations:
            known.popitem(last=False)
        return found
