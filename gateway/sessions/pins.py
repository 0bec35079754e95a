"""Pins: what a session stays on, for how long, and what ends it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.sessions.model import FOREVER_UNIX_S, TTL_S, Choice, Pin
from services.domain.copying import replace
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.sessions.model import Session

TIER_ORDER: Mapping[ModelTier, int] = {
    ModelTier.LOW: 1,
    ModelTier.MID: 2,
    ModelTier.HIGH: 3,
    ModelTier.TOP: 4,
}
"""The tiers, rising; an unknown one has no place."""
_CLEARED = Choice(model_id="", provider="", strategy="")


@dataclass(frozen=True, slots=True)
class ReanchorFacts:
    """What must hold of an expired pin before its model is kept."""

    fresh_tier: ModelTier
    pinned_tier: ModelTier
    is_routable: bool
    """Its model is there, its provider enabled, and nothing excludes either."""
    is_history_trimmed: bool = False
    is_saturated: bool = False


def live_pin(session: Session, strategy: str, now_unix_s: float) -> Pin | None:
    """Return the pin that may serve now; one of another strategy is none."""
    pin = session.pin
    if pin is None or pin.choice.strategy != strategy:
        return None
    return pin if pin.is_live_at(now_unix_s) else None


def write_pin(
    session: Session,
    choice: Choice,
    now_unix_s: float,
    *,
    basis_epoch: int,
    is_forced: bool = False,
) -> Session:
    """Return the session pinned to ``choice`` for the time to live from now.

    ``basis_epoch`` is the ``pin_epoch`` that the choice was made on: a clear, an expiry or a forced
    pin that came meanwhile wins, and only a forced one follows a forced one. Counters of errors
    start anew with another model. Without an installation nothing is pinned.
    """
    old = session.pin
    is_kept = old is not None and old.is_forced and not is_forced
    if session.pin_epoch != basis_epoch or not session.address.installation_id or is_kept:
        return session
    is_same_model = old is not None and old.choice.model_id == choice.model_id
    until = FOREVER_UNIX_S if is_forced else now_unix_s + TTL_S
    if old is not None and is_same_model:
        until = max(until, old.until_unix_s)
    pin = Pin(
        choice=_with_kept_parts(choice, old.choice) if old and is_same_model else choice,
        until_unix_s=until,
        first_unix_s=old.first_unix_s if old is not None else now_unix_s,
        turn_count=old.turn_count + 1 if old is not None else 1,
    )
    return replace(
        session,
        pin=pin,
        pin_epoch=session.pin_epoch + is_forced,
        strikes=session.strikes if is_same_model else session.strikes.without_counts(),
        last_seen_unix_s=max(session.last_seen_unix_s, now_unix_s),
    )


def clear_pin(session: Session, reason: str, now_unix_s: float) -> Session:
    """Return the session whose pin was ended on purpose: an expired one that names no model."""
    old = session.pin
    cleared = Pin(
        choice=replace(_CLEARED, reason=reason, strategy=old.choice.strategy if old else ""),
        until_unix_s=now_unix_s,
        first_unix_s=old.first_unix_s if old else now_unix_s,
        turn_count=old.turn_count if old else 0,
    )
    return replace(session, pin=cleared, pin_epoch=session.pin_epoch + 1)


def expire_pin(session: Session, now_unix_s: float) -> Session:
    """Return the session whose pin ended now; it still names its model. A forced one stays."""
    pin = session.pin
    if pin is None or pin.is_forced:
        return session
    ended = replace(pin, until_unix_s=min(pin.until_unix_s, now_unix_s))
    return replace(session, pin=ended, pin_epoch=session.pin_epoch + 1)


def can_reanchor(session: Session, strategy: str, now_unix_s: float, facts: ReanchorFacts) -> bool:
    """Return whether the model of an expired pin is kept rather than the fresh one taken."""
    pin = session.pin
    if pin is None or not pin.is_named or pin.choice.strategy != strategy:
        return False
    tiers = (TIER_ORDER.get(facts.fresh_tier), TIER_ORDER.get(facts.pinned_tier))
    if tiers[0] is None or tiers[1] is None or tiers[0] > tiers[1]:
        return False
    return (
        not pin.is_live_at(now_unix_s)
        and facts.is_routable
        and not facts.is_history_trimmed
        and not facts.is_saturated
    )


def _with_kept_parts(choice: Choice, old: Choice) -> Choice:
    """Return the choice with the runner-up of before where it names none."""
    is_paired = bool(choice.paired_model_id or choice.paired_provider)
    pair = choice if is_paired else old
    return replace(
        choice,
        paired_model_id=pair.paired_model_id,
        paired_provider=pair.paired_provider,
    )
