"""A shadow strategy decides the same actions and changes nothing."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from structlog.testing import capture_logs

from gateway.decider import Sources
from gateway.deciding.kinds import Rules
from gateway.eligibility import Policy
from gateway.explaining.shadow import MOST_WAITING, Shadow
from gateway.model import Action, AttemptFailed, AttemptStarted, Decision
from gateway.model.decision import Prompt, Score, Strategy
from gateway.model.eligibility import EligibilityRecord, ProviderState, Snapshot
from gateway.model.explained import Completed, ShadowPick
from tests.fakes.clock import FakeClock
from tests.fakes.deciding import FakePlanner, FakeScorer
from tests.fakes.explaining import scored
from tests.fakes.ports import FakeCredentials
from tests.unit.gateway.happenings import CATALOG, a_decision, an_action

PROVIDERS = tuple(
    sorted({binding.provider for model in CATALOG.models.values() for binding in model.bindings})
)

COSTS_MICROS = {"dear": 900, "cheap": 9}


class PricingScorer(FakeScorer):
    """Says what each model should cost."""

    async def score(self, action: Action, record: EligibilityRecord, prompt: Prompt) -> Score:
        found = await super().score(action, record, prompt)
        priced = (
            replace(each, expected_cost_micros=COSTS_MICROS[each.binding.model_id])
            for each in found.candidates
            if each.binding.model_id in COSTS_MICROS
        )
        return replace(found, candidates=tuple(priced))


@dataclass
class Heard:
    """Keeps what a watcher hears."""

    decisions: list[str] = field(default_factory=list)
    picks: list[ShadowPick] = field(default_factory=list)

    def decided(self, action: Action, decision: Decision) -> None:
        self.decisions.append(action.id)

    def shadowed(self, action: Action, pick: ShadowPick) -> None:
        self.decisions.append(f"shadow of {action.id}")
        self.picks.append(pick)

    def began(self, action: Action, started: AttemptStarted) -> None:
        raise AssertionError

    def missed(self, action: Action, failed: AttemptFailed) -> None:
        raise AssertionError

    def completed(self, action: Action, completed: Completed) -> None:
        self.decisions.append(f"end of {action.id}")


@dataclass
class Rig:
    """A shadow with a scripted scorer."""

    heard: Heard = field(default_factory=Heard)
    scorer: FakeScorer = field(
        default_factory=lambda: FakeScorer(CATALOG, ["dear", "cheap"], {"dear": 0.1, "cheap": 0.2})
    )

    def shadow(self) -> Shadow:
        clock = FakeClock()
        policy = Policy("cfg", PROVIDERS, known_providers=PROVIDERS)
        snapshot = Snapshot("v1", tuple(map(ProviderState, PROVIDERS)))
        sources = Sources(FakeCredentials(snapshot), policy, CATALOG, clock)
        rules = Rules(strategy=Strategy.CLUSTER)
        rehearsal_of = scored(sources, self.scorer, FakePlanner(), rules)
        return Shadow(self.heard, rehearsal_of, CATALOG, clock, "cluster")


async def test_a_decision_is_passed_on_at_once_and_made_once_more() -> None:
    rig = Rig()
    shadow, action = rig.shadow(), an_action()
    with capture_logs() as lines:
        shadow.start()
        shadow.decided(action, a_decision(action))
        assert rig.heard.decisions == [action.id]
        for _ in range(20):
            await asyncio.sleep(0)
        await shadow.aclose()
    (line,) = (line for line in lines if line["event"] == "shadow_decision")
    assert (line["acting_model"], line["model"], line["is_same_model"]) == ("cheap", "dear", False)
    assert line["action_id"] == action.id
    assert line["strategy"] == "cluster"
    assert rig.heard.decisions == [action.id, f"shadow of {action.id}"]
    (pick,) = rig.heard.picks
    assert (pick.strategy, pick.binding.model_id) == ("cluster", "dear")
    assert pick.expected_cost_micros == line["expected_cost_micros"] is not None


async def test_both_models_are_priced_by_the_measure_of_the_shadow() -> None:
    rig = Rig(scorer=PricingScorer(CATALOG, ["dear", "cheap"]))
    shadow, action = rig.shadow(), an_action()
    with capture_logs() as lines:
        shadow.start()
        shadow.decided(action, a_decision(action))
        for _ in range(20):
            await asyncio.sleep(0)
        await shadow.aclose()
    (line,) = (line for line in lines if line["event"] == "shadow_decision")
    told = {line["model"]: line["expected_cost_micros"]}
    assert told | {line["acting_model"]: line["acting_cost_micros"]} == COSTS_MICROS


async def test_a_shadow_that_fails_leaves_no_trace_but_a_count() -> None:
    rig = Rig()
    rig.scorer.is_away = True
    assert await rig.shadow().pick(an_action()) is None


async def test_more_than_can_wait_is_dropped_and_still_passed_on() -> None:
    rig = Rig()
    shadow = rig.shadow()
    for number in range(MOST_WAITING + 3):
        shadow.decided(an_action(number), a_decision(an_action(number)))
    assert len(rig.heard.decisions) == MOST_WAITING + 3
    await shadow.aclose()
