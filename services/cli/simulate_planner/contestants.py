"""Ways of choosing: the planner under some rules, always the pick, never a second model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.cli.simulate_planner.calibration import calibrated
from services.cli.simulate_planner.history import History, summary_usd
from services.cli.simulate_planner.play import Choice
from services.domain.risk import running_mean
from services.planner.model.decision import Verdict
from services.planner.model.question import (
    Binding,
    CacheState,
    Economics,
    Fresh,
    ListPrice,
    Pin,
    PriceRow,
    Question,
    SummaryOffer,
)
from services.planner.model.rules import Rules
from services.planner.policy.decision import decide
from services.planner.policy.prices import side_price
from services.planner.policy.value import premium_usd, warm_usd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.cli.simulate_planner.play import Chooser, Stage
    from services.cli.simulate_planner.prices import SimModel
    from services.planner.model.decision import SidePrice

PROVIDER = "simulated"


@dataclass(frozen=True, slots=True)
class Follow:
    """Serves the scorer's pick every time."""

    def begin(self, stage: Stage) -> Chooser:
        """Return the chooser of one session."""
        return Fixed(stage.picks)


@dataclass(frozen=True, slots=True)
class Never:
    """Stays on the first pick."""

    def begin(self, stage: Stage) -> Chooser:
        """Return the chooser of one session."""
        return Fixed([stage.picks[0]] * len(stage.picks))


@dataclass(frozen=True, slots=True)
class Fixed:
    """Serves a given list."""

    models: Sequence[int]

    def choose(self, t: int) -> Choice:
        """Return what the list says."""
        return Choice(self.models[t])


@dataclass(frozen=True, slots=True)
class Planned:
    """The product's planner with what the product would know."""

    rules: Rules = field(default_factory=Rules)
    is_prefix_counted: bool = True
    """Whether the prefix is what the last action read and wrote; else its share of the prompt."""
    is_leftover_used: bool = True
    has_risks: bool = True
    """Whether the scorer gives risks; else tiers stand in."""
    is_calibrated: bool = True
    """Whether those risks are chances that hold; else readings taken as exact."""
    has_summaries: bool = False
    """Whether a summary is on offer for a switch."""

    def begin(self, stage: Stage) -> Chooser:
        """Return the chooser of one session."""
        return _Planner(stage, self)


def list_price(model: SimModel) -> ListPrice:
    """Return the model's price as a catalog has it."""
    return ListPrice(model.input_usd_per_mtok, model.output_usd_per_mtok, model.read, model.write)


class _Planner:
    """Keeps what the gateway keeps in one session: pin, means, last usages."""

    def __init__(self, stage: Stage, kind: Planned) -> None:
        self._stage, self._kind = stage, kind
        self._names = [Binding(model.name, PROVIDER) for model in stage.models]
        self._rows = [
            PriceRow(name, list_price(model))
            for name, model in zip(self._names, stage.models, strict=True)
        ]
        self._no_risks: Sequence[float | None] = (None,) * len(stage.models)
        self._risks = stage.session.seen_risk
        if kind.is_calibrated:
            self._risks = calibrated(stage.config).risks(stage.session, stage.config)
        self._history = History(stage.session)
        self._last = stage.session.sizes[0]
        self._pin = -1
        self._means: list[float | None] = [None] * len(stage.models)
        self._cached = [0.0] * len(stage.models)
        self._used_s = [-math.inf] * len(stage.models)

    def choose(self, t: int) -> Choice:
        """Return the planner's verdict on the scorer's pick, and what it believes it costs."""
        pick = self._stage.picks[t]
        self._observe(t)
        if t == 0:
            self._serve(pick, t)
            return Choice(pick)
        question = self._question(t, pick)
        chosen, is_summarised = self._verdict(question, pick)
        believed = None if is_summarised else self._believed_usd(question, chosen)
        if is_summarised:
            self._history.shorten(t)
            self._cached = [0.0] * len(self._cached)
        self._serve(chosen, t)
        return Choice(chosen, believed, is_summarised)

    def _verdict(self, question: Question, pick: int) -> tuple[int, bool]:
        """Return the model to serve and whether a summary goes with it."""
        if pick == self._pin:
            return pick, False
        decision = decide(question, self._kind.rules)
        if decision.verdict is not Verdict.SWITCH:
            return self._pin, False
        sums = decision.value_sum
        return pick, sums is not None and sums.is_summary_chosen

    def _observe(self, t: int) -> None:
        risks = self._risks[t]
        means = zip(self._means, risks, strict=True)
        self._means = [running_mean(mean, risk, t) for mean, risk in means]
        self._history.advance(t)
        if self._stage.session.is_trimmed[t]:
            self._cached = [0.0] * len(self._cached)

    def _serve(self, model: int, t: int) -> None:
        session = self._stage.session
        self._pin = model
        self._last = self._history.size(t)
        self._cached[model] = self._last.cacheable
        self._used_s[model] = session.time_s[t]

    def _question(self, t: int, pick: int) -> Question:
        session, pin, models = self._stage.session, self._pin, self._stage.models
        is_cold = self._stage.is_cold_event(t, models[pin].ttl_s)
        tokens = round(self._history.size(t).tokens)
        risks: Sequence[float | None] = self._risks[t] if self._kind.has_risks else self._no_risks
        return Question(
            fresh=Fresh(
                binding=self._names[pick],
                tier=models[pick].tier,
                risk=risks[pick],
                mean_risk=self._means[pick],
                leftover_tokens=self._leftover(t, pick),
            ),
            pin=Pin(
                binding=self._names[pin],
                cache_state=CacheState.COLD if is_cold else CacheState.WARM,
                tier=models[pin].tier,
                risk=risks[pin],
                mean_risk=self._means[pin],
            ),
            input_tokens=tokens,
            prefix_tokens=self._prefix(t, tokens),
            output_tokens=round(session.sizes[t - 1].output),
            prices=(self._rows[pin], self._rows[pick]),
            cost_factors={
                models[side].name: session.factor[t]
                for side in (pin, pick)
                if models[side].is_coverable and session.factor[t] < 1.0
            },
            summary=self._offer(t, tokens),
        )

    def _offer(self, t: int, tokens: int) -> SummaryOffer | None:
        if not self._kind.has_summaries:
            return None
        cost_usd = summary_usd(self._stage.models, tokens)
        return SummaryOffer(round(self._history.shortened_tokens(t)), cost_usd)

    def _prefix(self, t: int, tokens: int) -> int:
        """Return the prompt's part that the pin's cache should hold; a cut history leaves none."""
        if self._stage.session.is_trimmed[t]:
            return 0
        last = self._last
        if self._kind.is_prefix_counted:
            return min(int(last.cacheable), tokens)
        return int(last.cacheable / last.tokens * tokens)

    def _leftover(self, t: int, model: int) -> int:
        age_s = self._stage.session.time_s[t] - self._used_s[model]
        if not self._kind.is_leftover_used or age_s >= self._stage.models[model].ttl_s:
            return 0
        return int(self._cached[model])

    def _believed_usd(self, question: Question, chosen: int) -> float:
        """Return what value economics expects the chosen side to bill for this action."""
        pin, tokens, output = question.pin, question.input_tokens, question.output_tokens
        prefix = question.prefix_tokens or 0
        side = self._side(question, chosen)
        held = min(question.fresh.leftover_tokens, prefix)
        if pin is not None and chosen == self._pin:
            held = prefix if pin.cache_state is CacheState.WARM else 0
        return warm_usd(side, tokens, prefix, output) + premium_usd(side, tokens, prefix - held)

    def _side(self, question: Question, chosen: int) -> SidePrice:
        side = side_price(
            self._names[chosen],
            (self._rows[chosen],),
            question.cost_factors,
            question.input_tokens,
            Economics.VALUE,
        )
        if side is None:  # pragma: no cover - the row is given
            raise LookupError(self._names[chosen].model_id)
        return side
