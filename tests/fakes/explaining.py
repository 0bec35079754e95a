"""What explaining needs, answering as it is told."""

from __future__ import annotations

from dataclasses import dataclass, field

from gateway.adapters.explaining import Rehearsed, Silent
from gateway.decider import Decider, Sources
from gateway.deciding.kinds import Rules
from gateway.explaining.ports import RehearsalOf
from gateway.model import Action, Decision
from gateway.model.explained import AssumedPin, CredentialPreview
from gateway.routing import Routing
from tests.fakes.deciding import FakePlanner, FakeScorer


@dataclass
class FakePreviews:
    """Gives one answer to every question; None: it is silent."""

    answer: CredentialPreview | None = field(
        default_factory=lambda: CredentialPreview("abcd1234", 0)
    )
    asked: list[Decision] = field(default_factory=list)

    async def preview(self, action: Action, decision: Decision) -> CredentialPreview | None:
        self.asked.append(decision)
        return self.answer


def requested(sources: Sources) -> RehearsalOf:
    """Return rehearsals in which the client's word decides."""
    decider = Decider(sources)
    return lambda _: Rehearsed(decider, Silent())


def scored(sources: Sources, scorer: FakeScorer, planner: FakePlanner, rules: Rules) -> RehearsalOf:
    """Return rehearsals in which a scripted scorer and planner decide."""

    def rehearsal_of(_: AssumedPin | None) -> Rehearsed:
        routing = Routing(scorer, planner, sources.catalog, sources.clock, rules)
        return Rehearsed(Decider(sources, routing), Silent())

    return rehearsal_of
