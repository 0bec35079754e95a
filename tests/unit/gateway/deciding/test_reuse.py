"""Every path by which a model can serve again, and the one record that all of them consult.

Each path is played twice: with a record that lets the model serve, so that the path really reuses
it, and with one that does not, for each layer that can say so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.decider import Decider, Sources
from gateway.deciding.escalating import ESCALATION_REASON
from gateway.deciding.kinds import Rules
from gateway.deciding.pinned import Memory
from gateway.eligibility import Policy
from gateway.eligibility.removals import permits
from gateway.model import (
    Action,
    DecisionPath,
    Presented,
    PresentedIdentity,
    ProviderState,
    Snapshot,
)
from gateway.model.decision import Decision, PlanAnswer, Strategy
from gateway.routing import Routing
from gateway.sessions.model import Session, Strike
from gateway.sessions.pins import clear_pin, expire_pin, write_pin
from gateway.sessions.strikes import strike_model
from gateway.sessions.usage import record_use
from services.domain.catalog import build_catalog
from services.domain.errors import RouterError
from services.domain.vocab import CredentialKind, TurnType, WireFamily
from services.domain.wire.features import Requirement
from tests.fakes.clock import FakeClock
from tests.fakes.deciding import FakePlanner, FakeScorer
from tests.fakes.ports import FakeCredentials
from tests.unit.gateway.deciding.made import action, row
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

REUSED = "large"
CATALOG = build_catalog(
    [
        {
            "models": [
                {**row(REUSED, "mid", 1.0, "acme"), "context_window": 50_000, "image_input": False},
                row("middle", "mid", 2.0, "p1"),
                row("small", "mid", 3.0, "p1"),
            ]
        }
    ]
)
SESSION = record_use(pinned(made=choice(REUSED, "acme")), use(REUSED, "acme"), "cluster")
BODY = orjson.dumps(
    {"model": "m", "max_tokens": 900, "messages": [{"role": "user", "content": "x"}]}
)


@dataclass(frozen=True)
class Scene:
    """What leads to one path."""

    picks: str = "middle"
    session: Session = SESSION
    turn_type: TurnType = TurnType.MAIN_LOOP
    rules: Rules = field(default_factory=lambda: Rules(strategy=Strategy.CLUSTER))
    planner: PlanAnswer | None = None
    is_scorer_away: bool = False
    is_continued: bool = False
    requested: str = "m"
    forced: str = ""
    is_forced_by_session: bool = False
    fastest: str = ""
    plan_of: str = ""
    """Provider of the Claude plan that the caller brings; empty: none."""


def _rules(**changes: object) -> Rules:
    facts: dict[str, object] = {"strategy": Strategy.CLUSTER, **changes}
    return Rules(**facts)  # type: ignore[arg-type]  # facts by name


EXPIRED = expire_pin(SESSION, NOW - 10)
ESCALATED = write_pin(
    SESSION, choice(REUSED, "acme", reason=ESCALATION_REASON), NOW, basis_epoch=SESSION.pin_epoch
)
STAY = PlanAnswer(False, "value_negative")

PATHS: Mapping[str, tuple[DecisionPath, Scene]] = {
    "the scorer picks it": (DecisionPath.SCORED, Scene(REUSED, EMPTY)),
    "the scorer picks the pin again": (DecisionPath.STAY, Scene(REUSED)),
    "the planner stays": (DecisionPath.STAY, Scene(planner=STAY)),
    "the planner switches to it": (
        DecisionPath.SWITCH,
        Scene(REUSED, pinned(made=choice("middle", "p1")), planner=PlanAnswer(True, "value")),
    ),
    "the planner is silent": (DecisionPath.DEGRADED, Scene()),
    "the scorer is away": (DecisionPath.DEGRADED, Scene(is_scorer_away=True)),
    "planning is off": (DecisionPath.STICKY, Scene(rules=_rules(is_planner_on=False))),
    "tool results are not scored": (
        DecisionPath.STICKY,
        Scene(turn_type=TurnType.TOOL_RESULT, rules=_rules(is_tool_result_scored=False)),
    ),
    "a command went before": (DecisionPath.STICKY, Scene(is_continued=True)),
    "an expired pin is kept": (DecisionPath.REANCHOR, Scene(session=EXPIRED)),
    "it was escalated to": (DecisionPath.ESCALATION, Scene(session=ESCALATED)),
    "a compaction stays where the session was": (
        DecisionPath.HARD_PIN,
        Scene(turn_type=TurnType.COMPACTION),
    ),
    "a compaction goes where the session was last": (
        DecisionPath.HARD_PIN,
        Scene(turn_type=TurnType.COMPACTION, session=EXPIRED),
    ),
    "the operator fixed it": (
        DecisionPath.HARD_PIN,
        Scene(turn_type=TurnType.PROBE, rules=_rules(hard_pin=(REUSED, "acme"))),
    ),
    "it is the fastest": (DecisionPath.HARD_PIN, Scene(turn_type=TurnType.PROBE, fastest=REUSED)),
    "it is the cheapest": (DecisionPath.HARD_PIN, Scene(turn_type=TurnType.PROBE)),
    "sub-agents have it": (
        DecisionPath.HARD_PIN,
        Scene(turn_type=TurnType.SUB_AGENT_DISPATCH, rules=_rules(sub_agent_pin=(REUSED, "acme"))),
    ),
    "a header forces it": (DecisionPath.FORCED, Scene(forced=REUSED)),
    "a command forces it": (
        DecisionPath.FORCED,
        Scene(forced=REUSED, is_forced_by_session=True),
    ),
    "a plan of the caller's covers a classifier": (
        DecisionPath.PASSTHROUGH,
        Scene(turn_type=TurnType.CLASSIFIER, requested=REUSED, plan_of="acme"),
    ),
    "a plan of the caller's covers a conversation": (
        DecisionPath.PASSTHROUGH,
        Scene(requested=REUSED, plan_of="acme", rules=_rules(passthrough_below_ratio=0.95)),
    ),
    "the client names it": (
        DecisionPath.REQUESTED,
        Scene(requested=REUSED, rules=Rules(strategy=Strategy.REQUESTED)),
    ),
}
"""Every way in which a model comes to serve; a test holds it equal to the paths there are."""


def _no_provider(policy: Policy, snapshot: Snapshot) -> tuple[Policy, Snapshot]:
    return policy, replace(snapshot, providers=(ProviderState("p1"),))


def _excluded_model(policy: Policy, snapshot: Snapshot) -> tuple[Policy, Snapshot]:
    return replace(policy, excluded_models=frozenset({REUSED})), snapshot


def _excluded_provider(policy: Policy, snapshot: Snapshot) -> tuple[Policy, Snapshot]:
    return replace(policy, excluded_providers=frozenset({"acme"})), snapshot


def _refused(policy: Policy, snapshot: Snapshot) -> tuple[Policy, Snapshot]:
    return policy, replace(snapshot, refused=(("acme", REUSED),))


BROUGHT = Presented("a-token-of-tests", WireFamily.ANTHROPIC)
PLAN = PresentedIdentity("f" * 32, CredentialKind.CLAUDE_OAUTH, "acme")

Layering = Callable[[Policy, Snapshot], tuple[Policy, Snapshot]]
LAYERS: Mapping[str, Layering] = {
    "no credential": _no_provider,
    "the operator, by model": _excluded_model,
    "the operator, by provider": _excluded_provider,
    "its endpoint": _refused,
}


def _action(scene: Scene, *, overflow: int = 100, has_images: bool = False) -> Action:
    made = action(BODY, scene.turn_type)
    needs = (Requirement.IMAGES,) if has_images else ()
    features = replace(
        made.features,
        requested_model=scene.requested,
        overflow_tokens=overflow,
        requirements=needs,
    )
    caller = replace(
        made.caller,
        forced_model=scene.forced,
        is_forced_by_session=scene.is_forced_by_session,
        presented=(BROUGHT,) if scene.plan_of else (),
    )
    return replace(made, features=features, caller=caller)


async def _decide(
    scene: Scene,
    layer: Layering | None = None,
    *,
    overflow: int = 100,
    has_images: bool = False,
) -> Decision:
    policy = Policy("cfg", ("acme", "p1"), known_providers=("acme", "p1"))
    snapshot = Snapshot("v1", (ProviderState("acme"), ProviderState("p1")))
    if layer is not None:
        policy, snapshot = layer(policy, snapshot)
    clock = FakeClock(NOW)
    scorer = FakeScorer(CATALOG, [scene.picks], is_away=scene.is_scorer_away)
    scorer.fastest_model = scene.fastest
    is_routed = scene.rules.strategy is Strategy.CLUSTER
    planner = FakePlanner(scene.planner)
    routing = Routing(scorer, planner, CATALOG, clock, scene.rules) if is_routed else None
    credentials = FakeCredentials(snapshot)
    if scene.plan_of and any(state.provider == scene.plan_of for state in snapshot.providers):
        credentials.known = {BROUGHT.presented_secret: replace(PLAN, provider=scene.plan_of)}
    decider = Decider(Sources(credentials, policy, CATALOG, clock), routing)
    ground = await decider.ground(_action(scene, overflow=overflow, has_images=has_images))
    return await decider.decide(ground, Memory(scene.session, is_continued=scene.is_continued))


def _planned(decision: Decision) -> set[str]:
    """Return every model that dispatch may try."""
    targets = [*decision.plan.bindings]
    for rescue in decision.plan.rescues:
        targets += rescue.bindings
    return {binding.model_id for binding in targets}


@pytest.mark.spec("PLN-35", "TRN-52")
def test_the_table_holds_every_path_there_is() -> None:
    assert {path for path, _ in PATHS.values()} == set(DecisionPath)


@pytest.mark.spec("PLN-35", "TRN-52")
@pytest.mark.parametrize("name", PATHS)
async def test_the_path_reuses_a_model_that_may_serve(name: str) -> None:
    path, scene = PATHS[name]
    decision = await _decide(scene)
    assert decision.path is path
    assert decision.plan.bindings[0].model_id == REUSED


@pytest.mark.spec("PLN-35", "TRN-52")
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", PATHS)
async def test_no_path_reuses_a_model_that_the_record_removed(name: str, layer: str) -> None:
    _, scene = PATHS[name]
    try:
        decision = await _decide(scene, LAYERS[layer])
    except RouterError:
        return
    assert REUSED not in _planned(decision)


@pytest.mark.spec("PLN-35", "TRN-52")
@pytest.mark.parametrize("name", PATHS)
async def test_no_path_reuses_a_model_that_cannot_take_the_request(name: str) -> None:
    _, scene = PATHS[name]
    for limits in ({"overflow": 60_000}, {"has_images": True}):
        try:
            decision = await _decide(scene, **limits)
        except RouterError:
            continue
        assert REUSED not in _planned(decision)


DROPPED: Mapping[str, Session] = {
    "struck": strike_model(SESSION, Strike(REUSED, "stalled", NOW + 45), NOW),
    "cut at its limit": record_use(SESSION, use(REUSED, "acme", is_output_limited=True), "cluster"),
    "cleared": clear_pin(SESSION, "unforced", NOW),
    "of another strategy": pinned(made=replace(choice(REUSED, "acme"), strategy="other")),
}


@pytest.mark.spec("PLN-11")
@pytest.mark.parametrize("name", DROPPED)
async def test_the_planner_has_no_say_over_a_pin_that_was_dropped(name: str) -> None:
    decision = await _decide(Scene(session=DROPPED[name], planner=STAY))
    assert decision.path is DecisionPath.SCORED
    assert decision.answer is None
    assert decision.plan.bindings[0].model_id == "middle"
    assert decision.pin is not None
    assert decision.pin.model_id == "middle"


@pytest.mark.spec("PLN-11")
@pytest.mark.parametrize("layer", LAYERS)
async def test_nor_over_one_that_may_not_serve(layer: str) -> None:
    decision = await _decide(Scene(planner=STAY), LAYERS[layer])
    assert (decision.path, decision.answer) == (DecisionPath.SCORED, None)


@pytest.mark.spec("PLN-35", "TRN-64")
@pytest.mark.parametrize(
    "name", [name for name, (path, _) in PATHS.items() if path is not DecisionPath.FORCED]
)
async def test_what_a_session_stays_on_is_no_model_that_is_struck(name: str) -> None:
    path, scene = PATHS[name]
    if path in (DecisionPath.HARD_PIN, DecisionPath.REQUESTED) or "classifier" in name:
        return  # strikes belong to conversations, and these are none
    struck = strike_model(scene.session, Strike(REUSED, "failed"), NOW)
    try:
        decision = await _decide(replace(scene, session=struck))
    except RouterError:
        assert scene.is_scorer_away
        return
    assert decision.plan.bindings[0].model_id != REUSED


providers = st.sets(st.sampled_from(["acme", "p1"]))
models = st.sets(st.sampled_from([REUSED, "middle", "small"]), max_size=2)


@pytest.mark.spec("PLN-35")
@given(
    enabled=providers,
    excluded=models,
    pin=st.sampled_from([(REUSED, "acme"), ("middle", "p1")]),
    pick=st.sampled_from([REUSED, "middle", "small"]),
    answer=st.sampled_from([None, STAY, PlanAnswer(True, "value")]),
)
def test_whatever_is_decided_can_be_served(
    enabled: set[str],
    excluded: set[str],
    pin: tuple[str, str],
    pick: str,
    answer: PlanAnswer | None,
) -> None:
    def layer(policy: Policy, snapshot: Snapshot) -> tuple[Policy, Snapshot]:
        states = tuple(ProviderState(name) for name in sorted(enabled))
        limited = replace(policy, excluded_models=frozenset(excluded))
        return limited, replace(snapshot, providers=states)

    scene = Scene(pick, pinned(made=choice(*pin)), planner=answer)
    try:
        decision = asyncio.run(_decide(scene, layer))
    except RouterError:
        return
    for binding in decision.plan.bindings:
        assert permits(decision.record, binding.model_id, binding.provider)
    for rescue in decision.plan.rescues:
        for binding in rescue.bindings:
            assert permits(decision.record, binding.model_id, binding.provider)
