"""What an action is expected to cost before it is served, and what routing saved after. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.ledger.settlement import usage_of
from gateway.model.explained import ExpectedCosts
from services.domain.pricing import cost_of
from services.domain.wire.model import Usage

if TYPE_CHECKING:
    from gateway.model import Action, Decision
    from gateway.model.explained import Completed
    from services.domain.catalog import Catalog

EXPECTED_OUTPUT_TOKENS = 2_000
"""Output that is expected of an action; the scorer's own figure where it scored."""


def expected_costs(action: Action, decision: Decision, catalog: Catalog) -> ExpectedCosts:
    """Return what an action should cost on the model decided on and on the one asked for."""
    requested = catalog.resolve(action.features.requested_model)
    return ExpectedCosts(
        served=expected_cost(decision.plan.bindings[0].model_id, action, decision, catalog),
        requested=(
            expected_cost(requested.id, action, decision, catalog)
            if requested is not None
            else None
        ),
    )


def saved_micros(completed: Completed, requested_model: str, catalog: Catalog) -> int | None:
    """Return the price of the same tokens on the model asked for, less the charge."""
    row, charged = completed.serving_row, completed.charged_micros
    model = catalog.resolve(requested_model)
    if row is None or charged is None or model is None:
        return None
    return cost_of(usage_of(row), model.bindings[0].price).micros - charged


def _expected_output_tokens(action: Action) -> int:
    """Return the usual answer, or as much of it as the client lets."""
    limit = action.features.max_output_tokens
    return min(EXPECTED_OUTPUT_TOKENS, limit) if limit > 0 else EXPECTED_OUTPUT_TOKENS


def expected_cost(
    model_id: str, action: Action, decision: Decision, catalog: Catalog
) -> int | None:
    """Return what a model should cost by the measure of a decision; None: it has no price."""
    scored = decision.score.of(model_id) if decision.score is not None else None
    if scored is not None and scored.expected_cost_micros is not None:
        return scored.expected_cost_micros
    model = catalog.models.get(model_id)
    if model is None:
        return None
    planned = decision.plan.bindings[0]
    at = planned.index if planned.model_id == model_id else 0
    usage = Usage(fresh_input=action.input_tokens, output=_expected_output_tokens(action))
    return cost_of(usage, model.bindings[at].price).micros
