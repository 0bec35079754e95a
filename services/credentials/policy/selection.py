"""Chooses a credential for one binding.

Order, fixed: provider and tenant; the credential's own lists; switch and system state; tried in
this action; hard marks; room; bucket; session binding; priority; strategy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    Bucket,
    Credential,
    Cursor,
    CursorKey,
    Decision,
    InFlight,
    Judged,
    MarkKind,
    Pick,
    Purpose,
    Strategy,
    SuppressedPlan,
    Verdict,
)
from services.credentials.policy.matching import canonical_model, serves
from services.credentials.policy.strategy import choose
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from services.credentials.model import BindingRef, Mark, Pool, Query

_VERDICT_OF_MARK = {
    MarkKind.QUOTA: Verdict.COOLING,
    MarkKind.BILLING: Verdict.COOLING,
    MarkKind.AUTH: Verdict.AUTH,
    MarkKind.UNSUPPORTED: Verdict.UNSUPPORTED,
}
_BUCKET_VERDICTS = {Bucket.WARNED: Verdict.WARNED, Bucket.OVERAGE: Verdict.OVERAGE}


def decide(
    query: Query,
    binding: BindingRef,
    pool: Pool,
    in_flight: InFlight,
    cursor_at: Callable[[CursorKey], Cursor],
    bound_id: str,
    strategy: Strategy,
    now_unix_s: float,
) -> Decision:
    """Return the pick for one binding, with what stands against each candidate that is not free.

    ``bound_id`` is the credential of the session's binding; empty: none.
    """
    lane = pool.visible_to(query.installation_id, binding.provider)
    bar = _Bar(query, binding, in_flight, strategy, now_unix_s)
    barred: list[Judged] = []
    free: list[Credential] = []
    for credential in lane:
        against = bar.against(credential)
        if against is None:
            free.append(credential)
        else:
            barred.append(against)
    found = Decision(
        binding=binding,
        revision=pool.revision,
        now_unix_s=now_unix_s,
        barred=tuple(barred),
        # The lane itself where all are free: remembered decisions then share one tuple.
        free=tuple(free) if barred else lane,
        is_gateway_exclusive=query.installation_id in pool.gateway_tenants,
    )
    if not free:
        return found
    bucket, best = _best_bucket(free, bar.model_id, now_unix_s)
    bound = next((c for c in best if c.id == bound_id), None) if bound_id else None
    if bound is not None:
        priority, used = bound.spec.effective_priority, strategy
    else:
        priority = max(c.spec.effective_priority for c in best)
    key = CursorKey(query.installation_id, binding.provider, bar.model_id, bucket, priority)
    cursor = cursor_at(key)
    chosen = bound
    if chosen is None:
        offered = [c for c in best if c.spec.effective_priority == priority]
        chosen, used, cursor = choose(strategy, offered, cursor)
    pick = Pick(chosen, bucket, priority, used, bound is not None, key, cursor)
    return replace(found, pick=pick)


def verdicts(decision: Decision) -> tuple[Judged, ...]:
    """Return the verdict on every candidate of a decision, in id order."""
    model_id = canonical_model(decision.binding.model_id)
    placed = (
        Judged(c, _place(c, decision.pick, bucket_of(c, model_id, decision.now_unix_s)))
        for c in decision.free
        if decision.pick is not None
    )
    return tuple(sorted((*decision.barred, *placed), key=lambda one: one.credential.id))


def bucket_of(credential: Credential, model_id: str, now_unix_s: float) -> Bucket:
    """Return the preference bucket of a credential for a canonical model."""
    bucket = Bucket.CLEAN
    for mark in credential.marks:
        if not (mark.concerns(model_id) and mark.is_active(now_unix_s)):
            continue
        if mark.kind is MarkKind.OVERAGE:
            return Bucket.OVERAGE
        if mark.kind is MarkKind.WARNING:
            bucket = Bucket.WARNED
    return bucket


def blocked_until(marks: Sequence[Mark]) -> float | None:
    """Return when the last of some marks lapses; None: one of them never does, or there is none."""
    ends = [mark.expire_unix_s for mark in marks]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def _best_bucket(
    free: list[Credential], model_id: str, now_unix_s: float
) -> tuple[Bucket, list[Credential]]:
    """Return the best bucket that is not empty, and who is in it."""
    clean = [c for c in free if not c.marks]
    marked = [(bucket_of(c, model_id, now_unix_s), c) for c in free if c.marks]
    if not marked:
        return Bucket.CLEAN, clean
    best = Bucket.CLEAN if clean else min(bucket for bucket, _ in marked)
    same = [c for bucket, c in marked if bucket is best]
    return best, sorted((*clean, *same), key=lambda c: c.id) if best is Bucket.CLEAN else same


def _place(credential: Credential, pick: Pick, bucket: Bucket) -> Verdict:
    """Return the verdict on a free candidate beside the one that was picked."""
    if credential.id == pick.credential.id:
        return Verdict.PICKED
    if bucket is not pick.bucket:
        return _BUCKET_VERDICTS[bucket]
    if credential.spec.effective_priority < pick.priority:
        return Verdict.LOWER_PRIORITY
    return Verdict.NOT_THIS_TURN


class _Bar:
    """Says what stands against a candidate; what is the same for all is worked out once."""

    def __init__(
        self,
        query: Query,
        binding: BindingRef,
        in_flight: InFlight,
        strategy: Strategy,
        now_unix_s: float,
    ) -> None:
        self.model_id = canonical_model(binding.model_id)
        self._query = query
        self._in_flight = in_flight
        self._now_unix_s = now_unix_s
        self._is_weighted = strategy is Strategy.WEIGHTED
        self._holds_slot = query.purpose.holds_slot
        self._is_serving = query.purpose is Purpose.SERVE
        eligibility = query.eligibility
        self._needs_plan = eligibility is not None and eligibility.is_subscription_only

    def against(self, credential: Credential) -> Judged | None:
        """Return the first rule that bars a candidate, in the order of the rules; None: none."""
        verdict = self._by_rules(credential)
        if verdict is not None:
            return Judged(credential, verdict)
        if credential.marks:
            blocks = credential.blocking_marks(self.model_id, self._now_unix_s)
            if blocks:
                worst = max(blocks, key=lambda mark: _SEVERITY[mark.kind])
                return Judged(
                    credential, _VERDICT_OF_MARK[worst.kind], blocked_until(blocks), worst.window
                )
        if self._holds_slot and not self._has_room(credential):
            return Judged(credential, Verdict.BUSY)
        return None

    def _by_rules(self, credential: Credential) -> Verdict | None:
        spec, query = credential.spec, self._query
        if not serves(spec, self.model_id):
            return Verdict.EXCLUDED
        if self._is_unsuited(credential):
            return Verdict.PLAN
        if query.suppressed and SuppressedPlan(spec.kind, spec.owner) in query.suppressed:
            return Verdict.SUPPRESSED
        if not credential.is_usable or (self._is_weighted and spec.effective_weight == 0):
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

    def _has_room(self, credential: Credential) -> bool:
        spec, used = credential.spec, self._in_flight
        if spec.max_in_flight and used.by_credential.get(credential.id, 0) >= spec.max_in_flight:
            return False
        limit = spec.max_in_flight_per_model
        return not limit or used.by_model.get((credential.id, self.model_id), 0) < limit


def _shown_id(credential: Credential) -> str:
    """Return the id as grants show it: one without a secret has none."""
    return "" if credential.spec.kind is CredentialKind.NONE else credential.id


_SEVERITY = {
    kind: rank
    for rank, kind in enumerate(
        (MarkKind.QUOTA, MarkKind.BILLING, MarkKind.AUTH, MarkKind.UNSUPPORTED)
    )
}
