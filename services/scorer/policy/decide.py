"""From a prediction to a decision: filter, score, order."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from services.domain.errors import Reason
from services.scorer.model.artifact import Artifact, Floats
from services.scorer.model.decision import (
    Candidate,
    Decision,
    Deployed,
    EffectiveKnobs,
    Pool,
    Refusal,
    Terms,
)
from services.scorer.model.question import Question
from services.scorer.policy.blend import (
    blended,
    breakpoints,
    cluster_rows,
    preference_bonuses,
)
from services.scorer.policy.costs import Scales, Size, request_usd, scales
from services.scorer.policy.curve import calibrated, chance, need
from services.scorer.policy.deployed import Deployment
from services.scorer.policy.filters import filtered
from services.scorer.policy.heads import Prediction
from services.scorer.policy.knobs import effective

NOMINAL_INPUT_TOKENS = 1_000
"""Prompt for which the dial's breakpoints are found."""
_OLDEST = (0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class Desk:
    """Everything that stays the same between requests."""

    artifact: Artifact
    deployment: Deployment
    breakpoints: tuple[float, ...]
    risk_price_usd: float
    """What one answer that is not good enough costs where the request says nothing."""
    ranks: Mapping[str, int]
    """Place of each deployed model among equals: by name, and of one family the newest first."""


def desk_of(artifact: Artifact, deployment: Deployment, risk_price_usd: float) -> Desk:
    """Return the desk of an artifact; finds the dial's breakpoints where it has a dial."""
    points: tuple[float, ...] = ()
    if not artifact.has_risk and deployment.models:
        own = artifact.knobs
        size = Size(NOMINAL_INPUT_TOKENS, own.expected_output_tokens)
        nominal = scales(
            deployment.models,
            artifact,
            size,
            own.output_cost_ratio,
            is_verbosity_per_model=own.is_verbosity_per_model,
        )
        points = breakpoints(artifact, deployment.models, nominal)
    ordered = sorted(deployment.models, key=_rank)
    ranks = {model.model.id: place for place, model in enumerate(ordered)}
    return Desk(artifact, deployment, points, risk_price_usd, ranks)


def decide(
    desk: Desk, prediction: Prediction, question: Question, pool: Pool | None = None
) -> Decision | Refusal:
    """Return the decision, or why nothing may serve.

    ``pool`` is what the filters leave of the desk's models, where that is known already.

    Raises:
        InvalidRequestError: the knobs do not fit together.
    """
    knobs = effective(question.knobs, desk.artifact, desk.breakpoints, desk.risk_price_usd)
    if pool is None:
        pool = filtered(desk.deployment.models, question.features, question.eligibility)
    if pool.refusal is not None:
        return pool.refusal
    candidates = _Scoring(
        desk, prediction, question, knobs, pool, _size(question, knobs)
    ).candidates()
    if not all(math.isfinite(candidate.score) for candidate in candidates):
        return Refusal(Reason.ROUTING_UNAVAILABLE, "a score is not a number")
    return Decision(
        candidates=tuple(
            sorted(candidates, key=lambda each: (-each.score, desk.ranks[each.deployed.model.id]))
        ),
        pool=pool,
        knobs=knobs,
        cluster_ids=tuple(prediction.nearby.ids.tolist()),
        nearest_similarity=float(prediction.nearby.similarities[0]),
        is_far=prediction.is_far,
    )


def _size(question: Question, knobs: EffectiveKnobs) -> Size:
    """Return the request's size; a client's output limit bounds the answer that is expected."""
    features, output = question.features, knobs.expected_output_tokens
    if features.max_output_tokens > 0:
        output = min(output, features.max_output_tokens)
    return Size(features.input_tokens, output)


def _rank(deployed: Deployed) -> tuple[str, tuple[int, ...], str]:
    """Order by name, and within a family the newest first."""
    model = deployed.model
    padded = (*model.version, *_OLDEST)[: len(_OLDEST)]
    return model.family or model.id, tuple(-number for number in padded), model.id


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """The scoring of one request."""

    desk: Desk
    prediction: Prediction
    question: Question
    knobs: EffectiveKnobs
    pool: Pool
    size: Size

    def candidates(self) -> list[Candidate]:
        models, bindings = self.desk.deployment.models, self.pool.bindings
        places = [at for at, model in enumerate(models) if model.model.id in bindings]
        qualities = self._qualities([models[at] for at in places])
        bonuses = preference_bonuses(self.question.eligibility.preferred_models, bindings)
        has_risk = self.desk.artifact.has_risk
        sizes = None if has_risk and not self.question.is_explained else self._scales()
        blends = None if has_risk or sizes is None else self._blends(sizes)
        return [
            self._candidate(at, quality, sizes, blends, bonuses)
            for at, quality in zip(places, qualities, strict=True)
        ]

    def _scales(self) -> Scales:
        return scales(
            self.desk.deployment.models,
            self.desk.artifact,
            self.size,
            self.knobs.output_cost_ratio,
            is_verbosity_per_model=self.knobs.is_verbosity_per_model,
        )

    def _qualities(self, models: Sequence[Deployed]) -> list[float]:
        """Return each model's quality: its cells, a lender's, or the curve's."""
        curve, quality = self.desk.artifact.curve, self.prediction.quality
        if curve is None:
            return [float(quality[model.column]) for model in models]
        asked, chances = need(curve, quality), quality
        if any(model.column >= 0 for model in models):
            chances = calibrated(curve, quality)
        return [
            chance(curve, model.skill, asked)
            if model.column < 0 and model.skill is not None
            else float(chances[model.column])
            for model in models
        ]

    def _blends(self, sizes: Scales) -> Floats:
        rows = cluster_rows(self.desk.artifact, self.desk.deployment.models, self.prediction)
        nearby = self.prediction.nearby
        return blended(rows, nearby, sizes, self.knobs.alpha, self.knobs.speed_weight)

    def _candidate(
        self,
        place: int,
        quality: float,
        sizes: Scales | None,
        blends: Floats | None,
        bonuses: Mapping[str, float],
    ) -> Candidate:
        model = self.desk.deployment.models[place]
        binding = self.pool.bindings[model.model.id]
        cost_usd = request_usd(binding, self.size)
        uncovered = 1.0 - self.question.cost_factors.get(model.model.id, 1.0)
        preference = bonuses.get(model.model.id, 0.0)
        risk = None
        if blends is None:
            # In money: a covered model costs its share, a preference counts as less risk.
            risk = 1.0 - quality
            covered = uncovered * cost_usd
            liked = self.knobs.risk_price_usd * preference
            score = covered + liked - cost_usd - self.knobs.risk_price_usd * risk
        else:
            weight = float(self.prediction.nearby.weights.sum())
            covered, liked = weight * uncovered, weight * preference
            score = float(blends[place]) + covered + liked
        terms = None
        if self.question.is_explained and sizes is not None:
            terms = Terms(
                quality=quality,
                cost=float(sizes.cost[place]),
                latency=float(sizes.latency[place]),
                subscription_bonus=covered,
                preference_bonus=liked,
            )
        return Candidate(model, binding, score, risk, cost_usd, terms)
