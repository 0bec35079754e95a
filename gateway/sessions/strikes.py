"""Strikes: evidence against models and providers that outlives one action. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.model import EffectKind
from gateway.sessions.model import Strike, Strikes
from gateway.sessions.pins import clear_pin, expire_pin
from services.domain.copying import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model import Effect
    from gateway.sessions.model import Session

ERRORS_IN_A_ROW = 2
OVERLOADS_IN_A_ROW = 2
PROBED = "probed"
"""Why a model is held back while one action finds out whether it works again."""
PROBE_LEASE_S = 660.0
"""How long an action may take for that: its budget, and a minute."""
MAX_STRIKES = 32
MAX_PROVIDERS = 32


def count_upstream_error(session: Session, now_unix_s: float) -> Session:
    """Return the session after a refusal that no retry helps; the second in a row ends the pin."""
    count = session.strikes.upstream_errors + 1
    if count < ERRORS_IN_A_ROW:
        return _with(session, replace(session.strikes, upstream_errors=count), now_unix_s)
    struck = _with(session, replace(session.strikes, upstream_errors=0), now_unix_s)
    return expire_pin(struck, now_unix_s)


def count_overload(session: Session, provider: str, now_unix_s: float) -> Session:
    """Return the session after an overloaded answer that the client saw.

    The second in a row disables the provider for the session and ends the pin.
    """
    count = session.strikes.overloads + 1
    if count < OVERLOADS_IN_A_ROW:
        return _with(session, replace(session.strikes, overloads=count), now_unix_s)
    disabled = _united(session.strikes.disabled_providers, (provider,))
    struck = replace(session.strikes, overloads=0, disabled_providers=disabled)
    return expire_pin(_with(session, struck, now_unix_s), now_unix_s)


def strike_model(session: Session, strike: Strike, now_unix_s: float) -> Session:
    """Return the session with one strike more.

    A strike for life outranks a cooldown of the same model; of two cooldowns the later end holds.
    Fresh evidence ends a probe.
    """
    models = _merged((*_unprobed(session, strike.model_id), strike))
    return _with(session, replace(session.strikes, models=models), now_unix_s)


def begin_probe(session: Session, model_id: str, now_unix_s: float) -> Session:
    """Return the session with a model held back whose cooldown has ended, for all but who asks.

    It stays so until its answer, or the end of the lease: others of the session go elsewhere.
    """
    is_due = any(
        strike.model_id == model_id
        and strike.until_unix_s is not None
        and strike.until_unix_s <= now_unix_s
        for strike in session.strikes.models
    )
    if not is_due:
        return session
    return strike_model(session, Strike(model_id, PROBED, now_unix_s + PROBE_LEASE_S), now_unix_s)


def end_probe(session: Session, model_id: str) -> Session:
    """Return the session after an answer of a model: nothing is held against it that was probed."""
    left = _unprobed(session, model_id)
    if left == session.strikes.models:
        return session
    return replace(session, strikes=replace(session.strikes, models=left))


def _unprobed(session: Session, model_id: str) -> tuple[Strike, ...]:
    return tuple(
        strike
        for strike in session.strikes.models
        if strike.model_id != model_id or strike.reason != PROBED
    )


def struck_models(session: Session, now_unix_s: float) -> frozenset[str]:
    """Return the models that strikes hold back now; a cooldown is over at its very end."""
    return frozenset(
        strike.model_id for strike in session.strikes.models if _is_held(strike, now_unix_s)
    )


def struck_for_life(session: Session) -> frozenset[str]:
    """Return the models that no time brings back."""
    return frozenset(
        strike.model_id for strike in session.strikes.models if strike.until_unix_s is None
    )


def cooldown_ends(session: Session, now_unix_s: float) -> dict[str, float]:
    """Return until when each model in a cooldown is held back, in seconds since 1970."""
    return {
        strike.model_id: strike.until_unix_s
        for strike in session.strikes.models
        if strike.until_unix_s is not None and _is_held(strike, now_unix_s)
    }


def apply_effect(session: Session, effect: Effect, now_unix_s: float, cooldown_s: float) -> Session:
    """Return the session after what dispatch asked it to remember.

    Counts and evictions are about the model that the session is pinned to; ``cooldown_s`` is how
    long a throttled model rests.
    """
    pin = session.pin
    is_pinned = pin is not None and pin.choice.model_id == effect.model_id
    match effect.kind:
        case EffectKind.COOLDOWN:
            strike = Strike(effect.model_id, "cooling", now_unix_s + cooldown_s)
            return strike_model(session, strike, now_unix_s)
        case EffectKind.DEMOTE:
            return strike_model(session, Strike(effect.model_id, "failed"), now_unix_s)
        case EffectKind.CLEAR_COUNTS:
            cleared = session.strikes.without_counts()
            return session if cleared is session.strikes else replace(session, strikes=cleared)
        case EffectKind.COUNT_REFUSAL if is_pinned:
            return count_upstream_error(session, now_unix_s)
        case EffectKind.COUNT_OVERLOAD if is_pinned:
            return count_overload(session, effect.provider, now_unix_s)
        case EffectKind.EVICT_PIN if is_pinned and pin is not None and not pin.is_forced:
            return clear_pin(session, "evicted", now_unix_s)
        case _:
            return session


def merge_strikes(first: Strikes, second: Strikes) -> Strikes:
    """Return what both sessions know against models and providers."""
    return Strikes(
        upstream_errors=max(first.upstream_errors, second.upstream_errors),
        overloads=max(first.overloads, second.overloads),
        disabled_providers=_united(first.disabled_providers, second.disabled_providers),
        models=_merged((*first.models, *second.models)),
    )


def _is_held(strike: Strike, now_unix_s: float) -> bool:
    return strike.until_unix_s is None or now_unix_s < strike.until_unix_s


def _with(session: Session, strikes: Strikes, now_unix_s: float) -> Session:
    seen = max(session.last_seen_unix_s, now_unix_s)
    return replace(session, strikes=strikes, last_seen_unix_s=seen)


def _united(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({*first, *second}))[:MAX_PROVIDERS]


def _merged(strikes: Iterable[Strike]) -> tuple[Strike, ...]:
    """Return one strike per model; the strongest stay where there are too many."""
    strongest: dict[str, Strike] = {}
    for strike in strikes:
        kept = strongest.get(strike.model_id)
        if kept is None or _strength(strike) > _strength(kept):
            strongest[strike.model_id] = strike
    ranked = sorted(strongest.values(), key=lambda s: (-_strength(s), s.model_id))
    return tuple(ranked[:MAX_STRIKES])


def _strength(strike: Strike) -> float:
    return float("inf") if strike.until_unix_s is None else strike.until_unix_s
