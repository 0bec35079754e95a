"""What a session's pin is worth to an action: whether it may serve, and what its cache holds. Pure.

A pin that may not serve is passed over for this action only; the row is not touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gateway.eligibility.removals import left_alone, removal_of, serving_bindings
from gateway.sessions.model import CacheState
from gateway.sessions.pins import ReanchorFacts, can_reanchor, live_pin
from gateway.sessions.strikes import struck_models
from gateway.sessions.usage import cache_state, is_saturated, last_use_of
from services.domain.errors import PeerError, Reason

if TYPE_CHECKING:
    from gateway.model import EligibilityRecord
    from gateway.model.decision import Candidate, Score
    from gateway.sessions.model import Choice, Session
    from services.domain.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of an action's session, the action's own history counted in."""

    session: Session
    is_known: bool = True
    """Whether the session could be read: else anything may have happened in it."""
    is_history_trimmed: bool = False
    """Whether the client cut its history just now."""
    is_continued: bool = False
    """Whether a command went before, after which the pin is kept once."""
    is_stuck: bool = False
    """Whether the session makes the same request again and again."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What pins are judged against: the models, what may serve of them, and the time."""

    catalog: Catalog
    record: EligibilityRecord
    strategy: str
    now_unix_s: float

    def may_serve(self, model_id: str) -> bool:
        """Return whether a model is there and some binding of it may serve."""
        model = self.catalog.models.get(model_id)
        if model is None:
            return False
        return None in [removal_of(self.record, model_id, row.provider) for row in model.bindings]


def usable_pin(session: Session, moment: Moment) -> Choice | None:
    """Return the live pin that may serve this action; None: there is none."""
    pin = live_pin(session, moment.strategy, moment.now_unix_s)
    if pin is None or not _is_wanted(session, pin.choice, moment):
        return None
    return pin.choice


def unwanted_models(session: Session, moment: Moment) -> frozenset[str]:
    """Return the models that this action should not have, unless nothing else is there.

    The one whose last answer stopped at its output limit, those that strikes hold back, those that
    only disabled providers serve, and those that the deployment does not want to be picked.
    """
    struck = struck_models(session, moment.now_unix_s) | _of_disabled(session, moment)
    struck |= left_alone(moment.record)
    return struck | {session.last_served_model} if is_saturated(session) else struck


def _of_disabled(session: Session, moment: Moment) -> frozenset[str]:
    disabled = frozenset(session.strikes.disabled_providers)
    if not disabled:
        return frozenset()
    return frozenset(
        model.id
        for model in moment.catalog.models.values()
        if all(each.provider in disabled for each in serving_bindings(moment.record, model))
    )


def servable(score: Score, moment: Moment) -> Score:
    """Return the score without candidates that may not serve, whatever the scorer thinks.

    One that runs with another catalog may name models that are not there.

    Raises:
        PeerError: nothing is left.
    """
    left = tuple([c for c in score.candidates if moment.may_serve(c.binding.model_id)])
    if not left:
        raise PeerError(Reason.ROUTING_UNAVAILABLE, "the scorer named no model that may serve")
    return score if len(left) == len(score.candidates) else replace(score, candidates=left)


def fresh_pick(score: Score, unwanted: frozenset[str]) -> Candidate:
    """Return the best candidate that is wanted; the best of all where none is."""
    wanted = (c for c in score.candidates if c.binding.model_id not in unwanted)
    return next(wanted, score.candidates[0])


def reanchored(
    session: Session, fresh: Candidate, moment: Moment, *, is_history_trimmed: bool
) -> Choice | None:
    """Return the choice of an expired pin that is kept rather than the fresh one taken."""
    pin = session.pin
    model = moment.catalog.models.get(pin.choice.model_id) if pin is not None else None
    if pin is None or model is None:
        return None
    facts = ReanchorFacts(
        fresh_tier=fresh.tier,
        pinned_tier=model.tier,
        is_routable=_is_wanted(session, pin.choice, moment),
        is_history_trimmed=is_history_trimmed,
        is_saturated=is_saturated(session),
    )
    is_kept = can_reanchor(session, moment.strategy, moment.now_unix_s, facts)
    return pin.choice if is_kept else None


def pin_cache(
    session: Session, choice: Choice, passed_over: tuple[str, ...], now_unix_s: float
) -> CacheState:
    """Return how warm the pin is; cold where its credential would not be chosen again."""
    use = last_use_of(session, choice)
    state = cache_state(session, choice, now_unix_s)
    is_left = use is not None and use.fingerprint in passed_over
    return CacheState.COLD if state is CacheState.WARM and is_left else state


def _is_wanted(session: Session, choice: Choice, moment: Moment) -> bool:
    unwanted = unwanted_models(session, moment)
    return choice.model_id not in unwanted and moment.may_serve(choice.model_id)
