"""The line that is logged for each decision: numbers, names and versions, no content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.fields import micro_usd

if TYPE_CHECKING:
    from services.planner.codec.requests import Labels
    from services.planner.model.decision import Decision, SidePrice

    Facts = dict[str, str | int | float | bool | None]


def facts_of(decision: Decision, labels: Labels) -> Facts:
    """Return the fields of the line; money is micro-USD, and absent where none was computed."""
    inputs = decision.inputs
    facts: Facts = {
        "verdict": decision.verdict.value,
        "reason": decision.reason.value,
        "economics": decision.economics.value,
        "input_tokens": inputs.input_tokens,
        "cached_share": round(inputs.cached_share, 4),
        "output_tokens": inputs.output_tokens,
        "remaining_actions": inputs.remaining_actions,
        "threshold_micro_usd": micro_usd(inputs.threshold_usd),
        "is_cold": inputs.is_cold,
        **_side_facts("pin", decision.pin_price),
        **_side_facts("fresh", decision.fresh_price),
        "action_id": labels.action_id,
        "session_hash": labels.session_hash,
        "catalog_version": labels.catalog_version,
        "config_version": labels.config_version,
        "eligibility_id": labels.eligibility_id,
    }
    facts.update(_money_facts(decision))
    return facts


def _side_facts(side: str, price: SidePrice | None) -> Facts:
    if price is None:
        return {f"{side}_model": None}
    return {
        f"{side}_model": price.binding.model_id,
        f"{side}_provider": price.binding.provider,
        f"{side}_input_micro_usd_per_mtok": micro_usd(price.input_usd_per_mtok),
        f"{side}_output_micro_usd_per_mtok": micro_usd(price.output_usd_per_mtok),
        f"{side}_cost_factor": price.factor,
        f"{side}_is_fallback": price.is_fallback,
    }


def _money_facts(decision: Decision) -> Facts:
    facts: Facts = {}
    expected, sums, shadow = decision.expected_value, decision.value_sum, decision.shadow
    if expected is not None:
        facts["savings_micro_usd"] = micro_usd(expected.savings_usd)
        facts["eviction_micro_usd"] = micro_usd(expected.eviction_usd)
    if sums is not None:
        facts["stay_micro_usd"] = micro_usd(sums.stay_usd)
        facts["switch_micro_usd"] = micro_usd(sums.switch_usd)
        facts["quality_micro_usd"] = micro_usd(sums.quality_usd)
        facts["value_micro_usd"] = micro_usd(sums.value_usd)
        facts["risk_basis"] = sums.risk.basis.value
        facts["is_summary_chosen"] = sums.is_summary_chosen
    if shadow is not None:
        facts["shadow_verdict"] = shadow.verdict.value
        facts["shadow_stay_micro_usd"] = micro_usd(shadow.stay_usd)
        facts["shadow_switch_micro_usd"] = micro_usd(shadow.switch_usd)
    return facts
