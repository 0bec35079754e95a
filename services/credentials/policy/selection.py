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
_FREE = Verdict.NOT_THIS_TURN
"""Verdict of a candidate that nothing stands against, until somebody is picked."""


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
    """Return the pick for one binding with the verdict on every candidate.

    ``bound_id`` is the credential of the session's binding; empty: none.
    """
    lane = pool.visible_to(query.installation_id, binding.provider)
    judged = [_judge(c, query, binding, in_flight, strategy, now_unix_s) for c in lane]
    free = [one.credential for one in judged if one.verdict is _FREE]
    is_exclusive = query.installation_id in pool.gateway_tenants
    if not free:
        return Decision(binding, pool.revision, tuple(judged), None, is_exclusive)
    model_id = canonical_model(binding.model_id)
    buckets = {c.id: bucket_of(c, model_id, now_unix_s) for c in free}
    bucket = min(buckets.values())
    best = [c for c in free if buckets[c.id] is bucket]
    pick = _pick(query, binding, model_id, bucket, best, cursor_at, bound_id, strategy)
    final = tuple(
        one if one.verdict is not _FREE else replace(one, verdict=_place(one, pick, buckets))
        for one in judged
    )
    return Decision(binding, pool.revision, final, pick, is_exclusive)


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


def _pick(
    query: Query,
    binding: BindingRef,
    model_id: str,
    bucket: Bucket,
    best: list[Credential],
    cursor_at: Callable[[CursorKey], Cursor],
    bound_id: str,
    strategy: Strategy,
) -> Pick:
    bound = next((c for c in best if c.id == bound_id), None) if bound_id else None
    priority = max(c.spec.effective_priority for c in best)
    offered = [c for c in best if c.spec.effective_priority == priority]
    if bound is not None:
        priority = bound.spec.effective_priority
    key = CursorKey(query.installation_id, binding.provider, model_id, bucket, priority)
    if bound is not None:
        return Pick(bound, bucket, priority, strategy, True, key, cursor_at(key))
    chosen, used, cursor = choose(strategy, offered, cursor_at(key))
    return Pick(chosen, bucket, priority, used, False, key, cursor)


def _place(one: Judged, pick: Pick, buckets: dict[str, Bucket]) -> Verdict:
    """Return the verdict on a free candidate once somebody is picked."""
    credential = one.credential
    if credential.id == pick.credential.id:
        return Verdict.PICKED
    bucket = buckets[credential.id]
    if bucket is not pick.bucket:
        return _BUCKET_VERDICTS[bucket]
    if credential.spec.effective_priority < pick.priority:
        return Verdict.LOWER_PRIORITY
    return Verdict.NOT_THIS_TURN


def _judge(
    credential: Credential,
    query: Query,
    binding: BindingRef,
    in_flight: InFlight,
    strategy: Strategy,
    now_unix_s: float,
) -> Judged:
    spec = credential.spec
    if not serves(spec, binding.model_id):
        return Judged(credential, Verdict.EXCLUDED)
    if _is_unsuited(credential, query):
        return Judged(credential, Verdict.PLAN)
    if SuppressedPlan(spec.kind, spec.owner) in query.suppressed:
        return Judged(credential, Verdict.SUPPRESSED)
    if not credential.is_usable or (strategy is Strategy.WEIGHTED and spec.effective_weight == 0):
        return Judged(credential, Verdict.DISABLED)
    if _shown_id(credential) in query.tried:
        return Judged(credential, Verdict.TRIED)
    model_id = canonical_model(binding.model_id)
    blocks = credential.blocking_marks(model_id, now_unix_s)
    if blocks:
        worst = max(blocks, key=lambda mark: _severity(mark.kind))
        return Judged(credential, _VERDICT_OF_MARK[worst.kind], blocked_until(blocks), worst.window)
    if query.purpose.holds_slot and not _has_room(credential, model_id, in_flight):
        return Judged(credential, Verdict.BUSY)
    return Judged(credential, _FREE)


def _shown_id(credential: Credential) -> str:
    """Return the id as grants show it: one without a secret has none."""
    return "" if credential.spec.kind is CredentialKind.NONE else credential.id


def _is_unsuited(credential: Credential, query: Query) -> bool:
    """Return whether the payer does not fit: a plan for a call of our own, or no plan where only
    one may pay, or another account than the one that keeps the conversation's state."""
    spec = credential.spec
    if spec.is_plan and query.purpose is not Purpose.SERVE:
        return True
    eligibility = query.eligibility
    if eligibility is not None and eligibility.is_subscription_only and not spec.is_plan:
        return True
    return bool(query.required_credential_id) and credential.id != query.required_credential_id


def _has_room(credential: Credential, model_id: str, in_flight: InFlight) -> bool:
    spec = credential.spec
    if spec.max_in_flight and in_flight.by_credential.get(credential.id, 0) >= spec.max_in_flight:
        return False
    used = in_flight.by_model.get((credential.id, model_id), 0)
    return not spec.max_in_flight_per_model or used < spec.max_in_flight_per_model


def _severity(kind: MarkKind) -> int:
    return (MarkKind.QUOTA, MarkKind.BILLING, MarkKind.AUTH, MarkKind.UNSUPPORTED).index(kind)
