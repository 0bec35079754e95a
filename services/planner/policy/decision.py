"""STAY or SWITCH: the rows in their order, the first that matches decides.

It never chooses a third model, and equal questions under equal rules have equal answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import Decision, Reason, Verdict
from services.planner.model.question import CacheState, Economics
from services.planner.policy import corrected, legacy
from services.planner.policy.inputs import used_inputs
from services.planner.policy.prices import side_price
from services.planner.policy.risk import is_upgrade
from services.planner.policy.shadow import shadow_sum
from services.planner.policy.value import is_guarded, value_sum

if TYPE_CHECKING:
    from services.planner.model.decision import ExpectedValue, SidePrice, UsedInputs, ValueSum
    from services.planner.model.question import Binding, Pin, Question
    from services.planner.model.rules import Rules


def decide(question: Question, rules: Rules) -> Decision:
    """Return the verdict on ``question`` under ``rules``.

    A missing pin switches; a pin whose model is the fresh one, that nothing completed on, or that
    cannot be compared for want of a price, stays; one that cannot serve switches. Only then is
    money computed.
    """
    pin = question.pin
    pin_price = None if pin is None else _price_of(pin.binding, question, rules)
    fresh_price = _price_of(question.fresh.binding, question, rules)
    if pin is None:
        row: tuple[Verdict, Reason] | None = (Verdict.SWITCH, Reason.NO_PIN)
    else:
        row = _early_row(pin, question)
    if pin is not None and row is None and pin_price is not None and fresh_price is not None:
        return _compared(question, pin, (pin_price, fresh_price), rules)
    verdict, reason = row or (Verdict.STAY, Reason.PRICING_MISSING)
    inputs = used_inputs(question, rules, is_cold=False)
    return Decision(verdict, reason, rules.economics, inputs, pin_price, fresh_price)


def _price_of(side: Binding, question: Question, rules: Rules) -> SidePrice | None:
    return side_price(
        side, question.prices, question.cost_factors, question.input_tokens, rules.economics
    )


def _early_row(pin: Pin, question: Question) -> tuple[Verdict, Reason] | None:
    """Return the row that decides before prices are looked at, if there is one."""
    model = pin.binding.model_id
    if question.fresh.binding.model_id == model:
        return Verdict.STAY, Reason.SAME_MODEL
    if question.available_models is not None and model not in question.available_models:
        return Verdict.SWITCH, Reason.PIN_MODEL_MISSING
    if not pin.has_completed_action:
        return Verdict.STAY, Reason.NO_PRIOR_USAGE
    return None


def _compared(
    question: Question, pin: Pin, prices: tuple[SidePrice, SidePrice], rules: Rules
) -> Decision:
    inputs = used_inputs(question, rules, is_cold=pin.cache_state is not CacheState.WARM)
    is_above = is_upgrade(pin.tier, question.fresh.tier)
    sums: ValueSum | None = None
    expected: ExpectedValue | None = None
    if rules.economics is Economics.VALUE:
        sums = value_sum(pin, question.fresh, prices, inputs, question.summary)
        verdict, reason = _value_row(sums, inputs, is_upgrade=is_above)
    else:
        economics = corrected if rules.economics is Economics.CORRECTED else legacy
        expected = economics.expected_value(*prices, inputs)
        verdict, reason = _expected_value_row(expected, inputs, rules, is_upgrade=is_above)
    return Decision(
        verdict=verdict,
        reason=reason,
        economics=rules.economics,
        inputs=inputs,
        pin_price=prices[0],
        fresh_price=prices[1],
        expected_value=expected,
        value_sum=sums,
        shadow=shadow_sum(*prices, inputs),
    )


def _value_row(sums: ValueSum, inputs: UsedInputs, *, is_upgrade: bool) -> tuple[Verdict, Reason]:
    if sums.value_usd > inputs.threshold_usd:
        return Verdict.SWITCH, Reason.VALUE_POSITIVE
    if is_upgrade and is_guarded(sums.risk, inputs):
        return Verdict.SWITCH, Reason.TIER_UPGRADE
    return Verdict.STAY, Reason.VALUE_NEGATIVE


def _expected_value_row(
    expected: ExpectedValue, inputs: UsedInputs, rules: Rules, *, is_upgrade: bool
) -> tuple[Verdict, Reason]:
    if expected.total_usd > inputs.threshold_usd:
        return Verdict.SWITCH, Reason.EV_POSITIVE
    if rules.is_tier_upgrade_on and is_upgrade:
        return Verdict.SWITCH, Reason.TIER_UPGRADE
    if rules.is_cold_pin_follow_on and inputs.is_cold:
        return Verdict.SWITCH, Reason.COLD_PIN_FOLLOW_FRESH
    return Verdict.STAY, Reason.EV_NEGATIVE
