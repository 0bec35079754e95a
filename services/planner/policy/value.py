"""Value economics, the production rule: money and priced quality in one sum.

Both sides pay for the current action and the expected later ones; whoever has to write the prefix
into a cache pays the premium once; the difference in risk has a price in the same currency.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.planner.model.decision import RiskBasis, ValueSum
from services.planner.policy.risk import risk_gap

if TYPE_CHECKING:
    from services.planner.model.decision import RiskGap, SidePrice, UsedInputs
    from services.planner.model.question import Fresh, Pin, SummaryOffer

GUARDED_RISK_PRICE_USD = 0.20
"""From this price of risk on, a guessed quality gives way to the tier guard."""


def value_sum(
    pin: Pin,
    fresh: Fresh,
    prices: tuple[SidePrice, SidePrice],
    inputs: UsedInputs,
    offer: SummaryOffer | None,
) -> ValueSum:
    """Return the sums of both sides; ``prices`` are the pin's and the fresh one's."""
    pin_price, fresh_price = prices
    tokens, prefix, output = inputs.input_tokens, inputs.prefix_tokens, inputs.output_tokens
    actions = max(inputs.remaining_actions, 1)
    risk = risk_gap(pin, fresh)
    stay = actions * warm_usd(pin_price, tokens, prefix, output)
    if inputs.is_cold:
        stay += premium_usd(pin_price, tokens, prefix)
    unwritten = prefix - inputs.leftover_tokens
    switch = actions * warm_usd(fresh_price, tokens, prefix, output)
    switch += premium_usd(fresh_price, tokens, unwritten)
    with_summary = None
    if offer is not None and prefix and not inputs.is_cold:
        with_summary = _with_summary(fresh_price, inputs, offer)
    quality = 0.0 if is_guarded(risk, inputs) else _quality_usd(risk, inputs)
    return ValueSum(stay, switch, with_summary, quality, risk)


def is_guarded(risk: RiskGap, inputs: UsedInputs) -> bool:
    """Return whether the tier guard takes the place of a quality that is only guessed.

    Once a bad answer is dear, trusting a tier as such served better in the simulator than pricing
    a fixed risk per step.
    """
    is_guess = risk.basis is not RiskBasis.SCORER
    return is_guess and inputs.risk_price_usd >= GUARDED_RISK_PRICE_USD


def _with_summary(fresh: SidePrice, inputs: UsedInputs, offer: SummaryOffer) -> float:
    """Return the cost of switching when a summary, written once, replaces the history."""
    tokens = offer.input_tokens
    prefix = inputs.prefix_tokens * tokens / inputs.input_tokens
    unwritten = prefix - min(offer.leftover_tokens, prefix)
    warm = warm_usd(fresh, tokens, prefix, inputs.output_tokens)
    actions = max(inputs.remaining_actions, 1)
    return actions * warm + premium_usd(fresh, tokens, unwritten) + offer.cost_usd


def _quality_usd(risk: RiskGap, inputs: UsedInputs) -> float:
    """Return the price of the gap: today's once, what persists of it and the mean for later."""
    later = max(inputs.remaining_actions, 1) - 1
    kept = inputs.persistence
    expected = risk.gap + later * (kept * risk.gap + (1.0 - kept) * risk.mean)
    return inputs.risk_price_usd * expected


def warm_usd(side: SidePrice, tokens: int, prefix: float, output: int) -> float:
    """Return the cost of one action whose prefix is read from the side's cache."""
    input_rate, output_rate = side.price.rates(tokens)
    prompt = input_rate * (prefix * side.read_multiplier + tokens - prefix)
    return side.scale * (prompt + output * output_rate) / 1e6


def premium_usd(side: SidePrice, tokens: int, written: float) -> float:
    """Return what writing ``written`` prefix tokens costs beyond reading them."""
    input_rate, _ = side.price.rates(tokens)
    surcharge = side.write_multiplier - side.read_multiplier
    return side.scale * input_rate * written * surcharge / 1e6
