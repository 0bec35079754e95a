"""One conversation that every client program holds with a provider of another family."""

from __future__ import annotations

import itertools

from services.domain.vocab import WireFamily
from tests.e2e.deployments import Deployment
from tests.e2e.desks.desk import SECRET_WORD, Desk
from tests.e2e.families import PATHS, key_of, model_of
from tests.fakes.upstream import FakeUpstream
from tests.unit.domain.wire.recorded.requests import Asked, Entry
from tests.unit.domain.wire.recorded.upstreams import read

FIRST, ORDER, LAST = "Say good morning", "Read the note", "Go on"
HELLO, DONE, BACK = "Good morning", "It was read", "Welcome back"


async def converse(
    desk: Desk, gateway: Deployment, provider: FakeUpstream, upstream: WireFamily
) -> None:
    """Hold a first turn, a tool turn and a second turn, and check both ends of each."""
    model, call = model_of(upstream), desk.program.reading(desk.note)
    provider.clear()

    provider.say(HELLO)
    assert HELLO in await desk.say(gateway, model, FIRST)
    (opening,) = _turns(provider, upstream)
    assert FIRST in _words(opening)
    assert opening.system
    offered = [name for name, _, _ in opening.tools]
    assert call.name in offered
    assert len(offered) == len(set(offered))

    provider.requests.clear()
    provider.say(DONE, call)
    assert DONE in await desk.say(gateway, model, ORDER)
    ordered, answered = _turns(provider, upstream)
    assert ORDER in _words(ordered)
    assert _kinds(ordered) == ["text"]
    assert _kinds(answered) == ["text", "call", "result"]
    *_, called, told = _said(answered)
    assert called.name == call.name
    assert SECRET_WORD in told.words

    provider.requests.clear()
    provider.say(BACK)
    assert BACK in await desk.say(gateway, model, LAST, is_again=True)
    (again,) = _turns(provider, upstream)
    assert _kinds(again) == ["text", "call", "result", "text", "text"]
    assert _said(again)[: len(_said(answered))] == _said(answered)
    assert DONE in [entry.words for entry in _said(again)]
    assert LAST in _words(again)
    _assert_one_session(gateway)


def _turns(provider: FakeUpstream, upstream: WireFamily) -> list[Asked]:
    """Return what a strict provider read of the turns; those offer tools, titles do not."""
    for request in provider.requests:
        assert request.path.startswith(PATHS[upstream])
        assert (request.key, request.status) == (key_of(upstream), 200)
    assert provider.open_streams == provider.aborted == 0
    return [
        read(upstream, request.body) for request in provider.requests if request.json.get("tools")
    ]


def _said(asked: Asked) -> list[Entry]:
    """Return what the two sides said; instructions that a client puts between are left out."""
    return [entry for entry in asked.entries if entry.role in ("user", "assistant")]


def _kinds(asked: Asked) -> list[str]:
    """Return what stands in a conversation, texts of the user beside each other as one."""
    said = [(entry.role, entry.kind) for entry in _said(asked)]
    runs = [(pair, len(list(run))) for pair, run in itertools.groupby(said)]
    return [kind for (_, kind), length in runs for _ in range(1 if kind == "text" else length)]


def _words(asked: Asked) -> str:
    return "\n".join(entry.words for entry in asked.entries)


def _assert_one_session(gateway: Deployment) -> None:
    """Assert that the tool turn and what was resumed are one session to the gateway."""
    actions = [line.fields for line in gateway.lines if line.has(event="action")]
    turns = [action for action in actions if action["turn_type"] in ("main_loop", "tool_result")]
    kinds = [action["turn_type"] for action in turns[-4:]]
    assert kinds == ["main_loop", "main_loop", "tool_result", "main_loop"]
    first, *rest = [action["session_hash"] for action in turns[-4:]]
    assert len(set(rest)) == 1
    assert first not in rest
