"""Reads a request: every field checked, the first bad one named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2 as pb

from services.domain import fields
from services.domain.errors import InvalidRequestError
from services.domain.fields import action_id, count, session_key, text, within
from services.domain.keeping import kept
from services.planner.codec import enums
from services.planner.codec.fields import binding, usd
from services.planner.model.question import (
    CacheState,
    Fresh,
    ListPrice,
    LongContext,
    Overrides,
    Pin,
    PriceRow,
    Question,
    SummaryOffer,
)

if TYPE_CHECKING:
    from services.domain.vocab import ModelTier

MAX_READ_MULTIPLIER = 2.0
MAX_WRITE_MULTIPLIER = 4.0
MAX_SESSION_BYTES = 8
"""What a log line shows of a session key."""
MOST_ROWS = 512
"""Decoded rows of prices that are kept: they change with the catalog alone."""
MOST_OVERRIDES = 64
"""Decoded overrides that are kept: there are as many as settings of keys."""


@dataclass(frozen=True, slots=True)
class Labels:
    """What a decision is filed under; it never changes the verdict."""

    catalog_version: str
    config_version: str
    eligibility_id: str = ""
    action_id: str = ""
    session_hash: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was read."""

    question: Question
    overrides: Overrides | None
    labels: Labels


def decode(message: pb.PlanActionRequest) -> Request:
    """Return what is asked.

    Raises:
        InvalidRequestError: a field is missing or out of range.
    """
    if not message.HasField("fresh"):
        raise InvalidRequestError.of("fresh", "must be set")
    return Request(
        question=Question(
            fresh=_fresh(message.fresh),
            pin=_pin(message.pin) if message.HasField("pin") else None,
            input_tokens=count(message.input_token_count, "input_token_count"),
            prefix_tokens=_prefix(message),
            output_tokens=count(message.output_token_count, "output_token_count"),
            available_models=(
                frozenset(message.available_models.model_ids)
                if message.HasField("available_models")
                else None
            ),
            prices=tuple(
                _row(row.SerializeToString(), index) for index, row in enumerate(message.prices)
            ),
            cost_factors={
                model: within(factor, 1.0, f"cost_factors[{model!r}]")
                for model, factor in message.cost_factors.items()
            },
            summary=_summary(message.summary) if message.HasField("summary") else None,
        ),
        overrides=(
            _overrides(message.overrides.SerializeToString())
            if message.HasField("overrides")
            else None
        ),
        labels=_labels(message),
    )


def _labels(message: pb.PlanActionRequest) -> Labels:
    labels = Labels(
        catalog_version=text(message.catalog_version, "catalog_version"),
        config_version=text(message.config_version, "config_version"),
        eligibility_id=message.eligibility_id,
    )
    if not message.HasField("action"):
        return labels
    action = message.action
    key = session_key(action.session_key, "action.session_key")
    return replace(
        labels,
        action_id=action_id(action.action_id, "action.action_id"),
        session_hash=key[:MAX_SESSION_BYTES].hex(),
    )


def _prefix(message: pb.PlanActionRequest) -> int | None:
    if not message.HasField("cacheable_prefix_token_count"):
        return None
    return count(message.cacheable_prefix_token_count, "cacheable_prefix_token_count")


def _pin(message: pb.Pin) -> Pin:
    state = CacheState.WARM
    if message.HasField("cache_state"):
        state = enums.cache_state(message.cache_state, "pin.cache_state")
    return Pin(
        binding=binding(message.binding, "pin.binding"),
        has_completed_action=message.has_completed_action,
        cache_state=state,
        tier=_tier(message, "pin.tier"),
        risk=_risk(message, "pin.risk_ratio"),
        mean_risk=_mean_risk(message, "pin.mean_risk_ratio"),
    )


def _fresh(message: pb.FreshDecision) -> Fresh:
    return Fresh(
        binding=binding(message.binding, "fresh.binding"),
        tier=_tier(message, "fresh.tier"),
        risk=_risk(message, "fresh.risk_ratio"),
        mean_risk=_mean_risk(message, "fresh.mean_risk_ratio"),
        leftover_tokens=count(
            message.leftover_prefix_token_count, "fresh.leftover_prefix_token_count"
        ),
    )


def _tier(message: pb.Pin | pb.FreshDecision, path: str) -> ModelTier | None:
    return enums.tier(message.tier, path) if message.HasField("tier") else None


def _risk(message: pb.Pin | pb.FreshDecision, path: str) -> float | None:
    return within(message.risk_ratio, 1.0, path) if message.HasField("risk_ratio") else None


def _mean_risk(message: pb.Pin | pb.FreshDecision, path: str) -> float | None:
    if not message.HasField("mean_risk_ratio"):
        return None
    return within(message.mean_risk_ratio, 1.0, path)


@kept(MOST_ROWS)
def _row(sealed: bytes, index: int) -> PriceRow:
    message, path = binding_pb2.BindingPrice.FromString(sealed), f"prices[{index}]"
    if not message.HasField("price"):
        raise InvalidRequestError.of(f"{path}.price", "must be set")
    return PriceRow(
        binding(message.binding, f"{path}.binding"), _price(message.price, f"{path}.price")
    )


def _price(message: binding_pb2.Price, path: str) -> ListPrice:
    read = write = None
    if message.HasField("cache_read_multiplier"):
        name = f"{path}.cache_read_multiplier"
        read = within(message.cache_read_multiplier, MAX_READ_MULTIPLIER, name)
    if message.HasField("cache_write_multiplier"):
        name = f"{path}.cache_write_multiplier"
        write = within(message.cache_write_multiplier, MAX_WRITE_MULTIPLIER, name)
    return ListPrice(
        usd(message.input_micro_usd_per_mtok, f"{path}.input_micro_usd_per_mtok"),
        usd(message.output_micro_usd_per_mtok, f"{path}.output_micro_usd_per_mtok"),
        read,
        write,
        _long_context(message.long_context, path) if message.HasField("long_context") else None,
    )


def _long_context(message: binding_pb2.LongContextPrice, path: str) -> LongContext:
    path = f"{path}.long_context"
    if message.threshold_token_count <= 0:
        raise InvalidRequestError.of(f"{path}.threshold_token_count", "must be above 0")
    return LongContext(
        message.threshold_token_count,
        usd(message.input_micro_usd_per_mtok, f"{path}.input_micro_usd_per_mtok"),
        usd(message.output_micro_usd_per_mtok, f"{path}.output_micro_usd_per_mtok"),
    )


def _summary(message: pb.SummaryOffer) -> SummaryOffer:
    return SummaryOffer(
        count(message.input_token_count, "summary.input_token_count"),
        usd(message.cost_micro_usd, "summary.cost_micro_usd"),
        count(message.leftover_prefix_token_count, "summary.leftover_prefix_token_count"),
    )


@kept(MOST_OVERRIDES)
def _overrides(sealed: bytes) -> Overrides:
    message = pb.PlannerOverrides.FromString(sealed)
    has = message.HasField
    if has("remaining_action_count") and message.remaining_action_count < 0:
        raise InvalidRequestError.of("overrides.remaining_action_count", "must be at least 0")
    path = "overrides"
    return Overrides(
        economics=(
            enums.economics(message.economics, f"{path}.economics") if has("economics") else None
        ),
        threshold_usd=(
            fields.usd(message.threshold_micro_usd) if has("threshold_micro_usd") else None
        ),
        remaining_actions=(
            message.remaining_action_count if has("remaining_action_count") else None
        ),
        is_tier_upgrade_on=(
            message.is_tier_upgrade_enabled if has("is_tier_upgrade_enabled") else None
        ),
        is_cold_pin_follow_on=(
            message.is_cold_pin_follow_fresh if has("is_cold_pin_follow_fresh") else None
        ),
        risk_price_usd=(
            usd(message.risk_price_micro_usd, f"{path}.risk_price_micro_usd")
            if has("risk_price_micro_usd")
            else None
        ),
        persistence=(
            within(message.persistence_ratio, 1.0, f"{path}.persistence_ratio")
            if has("persistence_ratio")
            else None
        ),
    )
