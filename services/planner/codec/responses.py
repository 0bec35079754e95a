"""Writes an answer; money is rounded here, after it was compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.planner.v1 import planner_pb2 as pb

from services.domain.fields import micro_usd
from services.planner.codec import enums

if TYPE_CHECKING:
    from services.domain.fields import Fields
    from services.planner.codec.requests import Labels
    from services.planner.model.decision import (
        Decision,
        ExpectedValue,
        ShadowSum,
        SidePrice,
        UsedInputs,
        ValueSum,
    )


def encode(decision: Decision, labels: Labels, service_version: str) -> pb.PlanActionResponse:
    """Return the answer; what was not computed is absent."""
    return pb.PlanActionResponse(
        verdict=enums.VERDICTS[decision.verdict],
        reason=enums.REASONS[decision.reason],
        is_ev_computed=decision.shadow is not None,
        economics=enums.ECONOMICS[decision.economics],
        expected_value=_expected(decision.expected_value),
        value_sum=_value(decision.value_sum),
        shadow=_shadow(decision.shadow),
        pin_price=_price(decision.pin_price),
        fresh_price=_price(decision.fresh_price),
        inputs=_inputs(decision.inputs),
        versions={
            "service_version": service_version,
            "catalog_version": labels.catalog_version,
            "config_version": labels.config_version,
            "eligibility_id": labels.eligibility_id,
        },
    )


def _expected(sums: ExpectedValue | None) -> Fields | None:
    if sums is None:
        return None
    return {
        "per_action_micro_usd": micro_usd(sums.per_action_usd),
        "savings_micro_usd": micro_usd(sums.savings_usd),
        "eviction_micro_usd": micro_usd(sums.eviction_usd),
        "expected_value_micro_usd": micro_usd(sums.total_usd),
    }


def _value(sums: ValueSum | None) -> Fields | None:
    if sums is None:
        return None
    with_summary = sums.switch_summary_usd
    return {
        "stay_micro_usd": micro_usd(sums.stay_usd),
        "switch_micro_usd": micro_usd(sums.switch_usd),
        "switch_full_history_micro_usd": micro_usd(sums.switch_full_usd),
        "switch_with_summary_micro_usd": None if with_summary is None else micro_usd(with_summary),
        "quality_micro_usd": micro_usd(sums.quality_usd),
        "value_micro_usd": micro_usd(sums.value_usd),
        "is_summary_chosen": sums.is_summary_chosen,
        "risk_gap": sums.risk.gap,
        "mean_risk_gap": sums.risk.mean,
        "risk_basis": enums.RISK_BASES[sums.risk.basis],
    }


def _shadow(sums: ShadowSum | None) -> Fields | None:
    if sums is None:
        return None
    return {
        "stay_micro_usd": micro_usd(sums.stay_usd),
        "switch_micro_usd": micro_usd(sums.switch_usd),
        "saving_micro_usd": micro_usd(sums.saving_usd),
        "verdict": enums.VERDICTS[sums.verdict],
    }


def _price(side: SidePrice | None) -> Fields | None:
    if side is None:
        return None
    price, row = side.price, side.binding
    return {
        "binding": {
            "model_id": row.model_id,
            "provider": row.provider,
            "upstream_id": row.upstream_id,
            "binding_index": row.index,
        },
        "price": {
            "input_micro_usd_per_mtok": micro_usd(side.input_usd_per_mtok),
            "output_micro_usd_per_mtok": micro_usd(side.output_usd_per_mtok),
            "cache_read_multiplier": price.read_multiplier,
            "cache_write_multiplier": price.write_multiplier,
        },
        "cost_factor": side.factor,
        "is_fallback": side.is_fallback,
        "cache_read_multiplier": side.read_multiplier,
        "cache_write_multiplier": side.write_multiplier,
    }


def _inputs(inputs: UsedInputs) -> Fields:
    return {
        "input_token_count": inputs.input_tokens,
        "cacheable_prefix_token_count": inputs.prefix_tokens,
        "is_prefix_known": inputs.is_prefix_known,
        "cached_share_ratio": inputs.cached_share,
        "output_token_count": inputs.output_tokens,
        "leftover_prefix_token_count": inputs.leftover_tokens,
        "remaining_action_count": inputs.remaining_actions,
        "threshold_micro_usd": micro_usd(inputs.threshold_usd),
        "risk_price_micro_usd": micro_usd(inputs.risk_price_usd),
        "persistence_ratio": inputs.persistence,
        "is_cold": inputs.is_cold,
    }
