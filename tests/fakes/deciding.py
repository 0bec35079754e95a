"""A scorer, a planner and a summariser that answer as they are told, and keep what was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gateway.model import Action, BindingRef, EligibilityRecord, Grant, Head, Plan, Tail
from gateway.model.compaction import CompactionAnswer, CompactionQuestion
from gateway.model.decision import (
    Candidate,
    PlanAnswer,
    PlanQuestion,
    Prompt,
    Score,
    SummaryAnswer,
    SummaryQuestion,
)
from services.domain.catalog import Catalog
from services.domain.errors import PeerError, Reason, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.model import StopReason, Usage
from tests.fakes.ports import FakeAnswer, FakeDispatch, Order


def binding_of(catalog: Catalog, model_id: str) -> BindingRef:
    """Return a model's primary binding."""
    row = catalog.models[model_id].bindings[0]
    return BindingRef(row.model_id, row.provider, row.upstream_id, row.index)


@dataclass
class FakeScorer:
    """Picks the models of `picks` one action after the other, the last one for ever."""

    catalog: Catalog
    picks: list[str]
    risks: Mapping[str, float] = field(default_factory=dict)
    is_away: bool = False
    refusal: RouterError | None = None
    fastest_model: str = ""
    asked: list[Prompt] = field(default_factory=list)

    async def score(self, action: Action, record: EligibilityRecord, prompt: Prompt) -> Score:
        self.asked.append(prompt)
        if self.is_away:
            raise PeerError(Reason.ROUTING_UNAVAILABLE, "away")
        if self.refusal is not None:
            raise self.refusal
        pick = self.picks.pop(0) if len(self.picks) > 1 else self.picks[0]
        others = [name for name in self.catalog.models if name != pick]
        return Score(tuple(self._candidate(name) for name in (pick, *others)), f"cluster:{pick}")

    async def fastest(self, action: Action, record: EligibilityRecord) -> BindingRef | None:
        return binding_of(self.catalog, self.fastest_model) if self.fastest_model else None

    def _candidate(self, name: str) -> Candidate:
        model = self.catalog.models[name]
        return Candidate(binding_of(self.catalog, name), model.tier, 1.0, self.risks.get(name))


@dataclass
class FakePlanner:
    """Gives one answer to every question; None: it is silent."""

    answer: PlanAnswer | None = None
    asked: list[PlanQuestion] = field(default_factory=list)

    async def plan(self, action: Action, question: PlanQuestion) -> PlanAnswer | None:
        self.asked.append(question)
        return self.answer


@dataclass
class FakeHandover:
    """Gives one answer to every question; None: it is silent."""

    answer: SummaryAnswer | None = None
    asked: list[SummaryQuestion] = field(default_factory=list)
    compaction: CompactionAnswer | None = None
    outgrown: list[CompactionQuestion] = field(default_factory=list)

    async def summarize(
        self,
        action: Action,
        record: EligibilityRecord,
        question: SummaryQuestion,
        left_s: float,
    ) -> SummaryAnswer | None:
        self.asked.append(question)
        return self.answer

    async def compact(
        self,
        action: Action,
        record: EligibilityRecord,
        question: CompactionQuestion,
        left_s: float,
    ) -> CompactionAnswer | None:
        self.outgrown.append(question)
        return self.compaction


@dataclass
class ServingDispatch(FakeDispatch):
    """Serves every action by the first binding of its plan, with one usage for all."""

    usage: Usage = field(default_factory=lambda: Usage(fresh_input=100, output=40))
    stop: StopReason = StopReason.END_TURN
    body: bytes = b'{"type":"message","content":[],"usage":{"input_tokens":1,"output_tokens":1}}'

    def dispatch(
        self,
        action: Action,
        record: EligibilityRecord,
        plan: Plan,
        grant: Grant | None,
        budget_s: float,
    ) -> FakeAnswer:
        self.orders.append(Order(action, record, plan, grant, budget_s))
        head = Head(
            binding=plan.bindings[0],
            wire_family=WireFamily.ANTHROPIC,
            http_status=200,
            headers=(("content-type", "application/json"),),
            is_stream=False,
            fingerprint="abcd1234",
        )
        answer = FakeAnswer(self.steps or (head, self.body, Tail(self.usage, self.stop)))
        self.answers.append(answer)
        return answer

    @property
    def served(self) -> Sequence[str]:
        """The model of every order."""
        return [order.plan.bindings[0].model_id for order in self.orders]
