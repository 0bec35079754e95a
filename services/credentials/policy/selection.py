"""Chooses a credential for one binding.

Order, fixed: provider and tenant; the credential's own lists; switch and system state; tried in
this action; hard marks; room; bucket; session binding; priority; strategy.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from services.credentials.model import (
    Bucket,
    Credential,
    Cursor,
    CursorKey,
    Decision,
    InFlight,
    Judged,
    Pick,
    Purpose,
    Strategy,
    SuppressedPlan,
    Verdict,
)
from services.credentials.policy.standing import standing_of
from services.credentials.policy.strategy import choose
from services.credentials.policy.view import Tier, tier_of
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.credentials.model import BindingRef, Query
    from services.credentials.policy.view import View

_BUCKET_VERDICTS = {
    Bucket.WARNED: Verdict.WARNED,
    Bucket.OVERAGE: Verdict.OVERAGE,
}
NO_SETBACKS: Mapping[str, float] = MappingProxyType({})
_BY_RULE = frozenset({Verdict.EXCLUDED, Verdict.DISABLED})


@dataclass(frozen=True, slots=True)
class Terms:
    """How the service is told to choose."""

    strategy: Strategy = Strategy.ROUND_ROBIN
    survives_warning: bool = False
    """Whether a session keeps a credential that is warned while a clean one is free."""
    is_prefix_forced: bool = False
    """Whether credentials with a namespace serve only models asked within it."""


def decide(
    query: Query,
    binding: BindingRef,
    view: View,
    revision: int,
    in_flight: InFlight,
    cursor_at: Callable[[CursorKey], Cursor],
    bound_id: str,
    terms: Terms,
    now_unix_s: float,
    *,
    is_gateway_exclusive: bool = False,
    full: frozenset[str] = frozenset(),
    setbacks: Mapping[str, float] = NO_SETBACKS,
    closed: Mapping[str, float] = NO_SETBACKS,
) -> Decision:
    """Return the pick for one binding, with what stands against each candidate that is not free.

    ``bound_id`` is the credential of the session's binding; empty: none. ``full`` are credentials
    that other replicas keep at their limits. ``setbacks`` says of credentials that failed
    transiently until when others come first; a bound one stays, for what it has cached.
    ``closed`` says of credentials until when an edge keeps their way out closed.
    """
    free, barred, tier = view.free, view.barred, view.tier
    if _may_bar(query, view, terms, full, closed):
        free, barred = _Bar(query, view, in_flight, terms, full, closed).sorted_out()
        tier = tier_of(free, view.entries)
    if setbacks and tier is not None:
        tier = _without_setbacks(free, view, tier, setbacks)
    pick = None
    if tier is not None:
        bound = _bound(view, free, bound_id, tier, terms)
        pick = _picked(query, binding, view, tier, bound, cursor_at, terms.strategy)
    return Decision(
        binding=binding,
        subject=view.subject,
        revision=revision,
        now_unix_s=now_unix_s,
        barred=barred,
        free=free,
        pick=pick,
        is_gateway_exclusive=is_gateway_exclusive,
    )


def _picked(
    query: Query,
    binding: BindingRef,
    view: View,
    tier: Tier,
    bound: Credential | None,
    cursor_at: Callable[[CursorKey], Cursor],
    strategy: Strategy,
) -> Pick:
    """Return the session's credential, or the next one of the best tier."""
    bucket, priority = tier.bucket, tier.priority
    if bound is not None:
        bucket, priority = view.entries[bound.id].standing.bucket, bound.priority
    model_id = view.subject.model_id
    key = CursorKey(query.installation_id, binding.provider, model_id, bucket, priority)
    cursor = cursor_at(key)
    if bound is not None:
        return Pick(bound, bucket, priority, strategy, True, key, cursor)
    chosen, used, cursor = choose(strategy, tier.members, cursor)
    return Pick(chosen, bucket, priority, used, False, key, cursor)


def _may_bar(
    query: Query,
    view: View,
    terms: Terms,
    full: frozenset[str],
    closed: Mapping[str, float],
) -> bool:
    """Return whether any candidate may be barred by more than the view says."""
    return bool(
        not view.is_plain
        or full
        or closed
        or _needs_plan(query)
        or terms.strategy is Strategy.WEIGHTED
        or query.tried
        or query.suppressed
        or query.required_credential_id
    )


def _needs_plan(query: Query) -> bool:
    return query.eligibility is not None and query.eligibility.is_subscription_only


def _without_setbacks(
    free: tuple[Credential, ...], view: View, tier: Tier, setbacks: Mapping[str, float]
) -> Tier:
    """Return the tier of those that did not just fail; where all did, the one whose setback ends
    first."""
    if not any(c.id in setbacks for c in tier.members):
        return tier
    steady = tier_of([c for c in free if c.id not in setbacks], view.entries)
    if steady is not None:
        return steady
    first = min(free, key=lambda c: (setbacks[c.id], c.id))
    return Tier(Bucket.LAST_RESORT, first.priority, (first,))


def verdicts(decision: Decision) -> tuple[Judged, ...]:
    """Return the verdict on every candidate of a decision, in id order."""
    pick = decision.pick
    placed = [_placed(c, pick, decision) for c in decision.free if pick is not None]
    barred = decision.barred
    if pick is not None and pick.is_trial:
        tried = Judged(pick.credential, Verdict.PICKED)
        barred = tuple(tried if one.credential is pick.credential else one for one in barred)
    return tuple(sorted((*barred, *placed), key=lambda one: one.credential.id))


def _placed(credential: Credential, pick: Pick | None, decision: Decision) -> Judged:
    """Return the verdict on a free candidate beside the one that was picked."""
    if pick is None or credential.id == pick.credential.id:
        return Judged(credential, Verdict.PICKED)
    standing = standing_of(credential, decision.subject, decision.now_unix_s)
    if standing.bucket is not pick.bucket and standing.bucket in _BUCKET_VERDICTS:
        verdict = _BUCKET_VERDICTS[standing.bucket]
        return Judged(credential, verdict, standing.until_unix_s, standing.window)
    if credential.priority < pick.priority:
        return Judged(credential, Verdict.LOWER_PRIORITY)
    return Judged(credential, Verdict.NOT_THIS_TURN)


def _bound(
    view: View, free: tuple[Credential, ...], bound_id: str, tier: Tier, terms: Terms
) -> Credential | None:
    """Return the session's credential where it may serve on; None: it is left, or there is none."""
    entry = view.entries.get(bound_id) if bound_id else None
    # By identity: to compare credentials is to compare all of their fields.
    if entry is None or not any(one is entry.credential for one in free):
        return None
    bucket = entry.standing.bucket
    is_kept = bucket <= tier.bucket or (terms.survives_warning and bucket is Bucket.WARNED)
    return entry.credential if is_kept else None


class _Bar:
    """Says what the question itself holds against candidates."""

    def __init__(
        self,
        query: Query,
        view: View,
        in_flight: InFlight,
        terms: Terms,
        full: frozenset[str],
        closed: Mapping[str, float],
    ) -> None:
        self._full = full
        self._closed = closed
        self._query = query
        self._view = view
        self._in_flight = in_flight
        self._is_weighted = terms.strategy is Strategy.WEIGHTED
        self._is_serving = query.purpose is Purpose.SERVE
        self._needs_plan = _needs_plan(query)

    def sorted_out(self) -> tuple[tuple[Credential, ...], tuple[Judged, ...]]:
        """Return who is free, and what stands against the others."""
        free: list[Credential] = []
        barred: list[Judged] = []
        known = {one.credential.id: one for one in self._view.barred}
        for credential in self._view.lane:
            against = known.get(credential.id)
            if against is None or against.verdict not in _BY_RULE:
                verdict = self._by_question(credential)
                if verdict is not None:
                    against = Judged(credential, verdict)
            if against is None and credential.id in self._closed:
                against = Judged(credential, Verdict.EDGE, self._closed[credential.id])
            if against is None and self._is_full(credential):
                against = Judged(credential, Verdict.BUSY)
            if against is None:
                free.append(credential)
            else:
                barred.append(against)
        return tuple(free), tuple(barred)

    def _by_question(self, credential: Credential) -> Verdict | None:
        spec, query = credential.spec, self._query
        if self._is_unsuited(credential):
            return Verdict.PLAN
        if query.suppressed and SuppressedPlan(spec.kind, spec.owner) in query.suppressed:
            return Verdict.SUPPRESSED
        if self._is_weighted and spec.effective_weight == 0:
            return Verdict.DISABLED
        if query.tried and _shown_id(credential) in query.tried:
            return Verdict.TRIED
        return None

    def _is_unsuited(self, credential: Credential) -> bool:
        """Return whether the payer does not fit: a plan for a call of our own, no plan where only
        one may pay, or another account than the one that keeps the conversation's state."""
        is_plan = credential.spec.is_plan
        if (is_plan and not self._is_serving) or (self._needs_plan and not is_plan):
            return True
        required = self._query.required_credential_id
        return bool(required) and credential.id != required

    def _is_full(self, credential: Credential) -> bool:
        if not self._query.purpose.holds_slot:
            return False
        if credential.id in self._full:
            return True
        spec, used = credential.spec, self._in_flight
        if spec.max_in_flight and used.by_credential.get(credential.id, 0) >= spec.max_in_flight:
            return True
        limit = spec.max_in_flight_per_model
        model_id = self._view.subject.model_id
        return bool(limit) and used.by_model.get((credential.id, model_id), 0) >= limit


def _shown_id(credential: Credential) -> str:
    """Return the id as grants show it: one without a secret has none."""
    return "" if credential.spec.kind is CredentialKind.NONE else credential.id
