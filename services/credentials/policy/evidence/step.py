"""The transition function: a credential, one report and the time become the credential after it.

Whether something changed is ``after != before`` over what is stored; there is no other test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import (
    OVERAGE_INCLUDED,
    Cause,
    EndKind,
    Mark,
    MarkKind,
    Phase,
    SystemState,
    WindowUse,
)
from services.credentials.policy.evidence.bodies import NO_FACTS, facts_of
from services.credentials.policy.evidence.classes import (
    Effect,
    effect_of,
    is_remembered,
    is_stale,
)
from services.credentials.policy.evidence.clearing import apply_success
from services.credentials.policy.evidence.draft import STARTS_ANEW, Draft
from services.credentials.policy.evidence.headers import (
    NO_SIGNALS,
    Status,
    codex,
    unified,
    wait_until,
)
from services.credentials.policy.evidence.ladder import Block, put_block
from services.credentials.policy.evidence.quota import Rejection, believed
from services.credentials.policy.evidence.rules import Doubt, Rules, Seen, Step
from services.credentials.policy.evidence.warning import (
    apply_overage,
    apply_sights,
    apply_warnings,
)
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model import Credential, Report, Subject
    from services.credentials.policy.evidence.bodies import BodyFacts
    from services.credentials.policy.evidence.headers import Signals

AUTH_BLOCK_S = 300.0
BILLING_BLOCK_S = 1_800.0
FORBIDDEN_BLOCK_S = 1_800.0
FEATURE_BLOCK_S = 1_800.0
UNSUPPORTED_BLOCK_S = 12 * 3_600.0
ENDPOINT_REFUSAL_S = 3_600.0
ABSENT_STEPS_S = (60.0, 600.0, 3_600.0, 12 * 3_600.0)
REFUSALS_UNTIL_INVALID = 3
"""Refusals of a key in a row; each blocks for 5 min, so the third comes after 10 at least."""
_KEYS = frozenset({CredentialKind.API_KEY, CredentialKind.GATEWAY})


def observe(
    credential: Credential, report: Report, seen: Seen, rules: Rules, now_unix_s: float
) -> Step:
    """Return what a report makes of a credential.

    ``seen`` is what this process saw of the credential's windows before.
    """
    if report.phase is Phase.ALIVE:
        return Step(credential, seen)
    at = min(report.observe_unix_s or now_unix_s, now_unix_s)
    facts = facts_of(report.error_body, at) if report.error_body else NO_FACTS
    effect = effect_of(report, facts)
    is_answered = _is_answered(report)
    if effect is Effect.NOTHING and not is_answered:
        return Step(credential, seen)
    if is_stale(credential, report, effect):
        return Step(credential, seen, doubts=(Doubt("stale_secret"),))
    signals = _signals(credential, report, rules, at)
    is_marked = bool(credential.marks or credential.trial_count)
    if effect is Effect.SUCCESS and signals is NO_SIGNALS and not is_marked:
        return Step(credential, seen)  # as most do: it lifts nothing, and says nothing
    draft = Draft(credential, now_unix_s)
    draft.doubts.extend(signals.doubts)
    subject = rules.subject(report.model_id)
    bound = _bound_families(credential, signals, subject)
    if effect is Effect.SUCCESS:
        apply_success(draft, report, signals, subject, at)
    if is_answered and signals is not NO_SIGNALS:
        seen = apply_warnings(draft, signals, rules, seen, at)
        apply_overage(draft, signals, rules, at)
    if effect not in (Effect.SUCCESS, Effect.NOTHING):
        _refuse(draft, effect, report, signals, facts, subject, rules, at)
    state = _state_after(draft, effect)
    trials = credential.trial_count if _has_quota_block(draft.marks.values()) else 0
    after = draft.result(bound_families=bound, system_state=state, trial_count=trials)
    usage = tuple(
        WindowUse(window.name, window.utilization_ratio, window.reset_unix_s)
        for window in signals.windows
    )
    return Step(after, seen, tuple(draft.transitions), tuple(draft.doubts), usage)


def swept(credential: Credential, now_unix_s: float) -> Step:
    """Return a credential whose lapsed marks are noted as ended."""
    draft = Draft(credential, now_unix_s)
    trials = credential.trial_count if _has_quota_block(draft.marks.values()) else 0
    after = draft.result(trial_count=trials)
    return Step(after, {}, tuple(draft.transitions))


def reviewed(credential: Credential, seen: Seen, now_unix_s: float) -> Step:
    """Return a credential without the warnings that this process saw cleared before it knew of
    them."""
    draft = Draft(credential, now_unix_s)
    apply_sights(draft, seen)
    return Step(draft.result(), seen, tuple(draft.transitions))


def cleared_by_operator(credential: Credential, model_id: str, rules: Rules, now: float) -> Step:
    """Return a credential after a reset, of one model or (empty) of all; a key that was given up
    is tried again."""
    wanted = rules.subject(model_id)
    draft = Draft(credential, now)
    for mark in tuple(draft.marks.values()):
        if model_id and mark.model_id != wanted.model_id:
            continue
        _lift(draft, mark, now, Cause.MANUAL)
    state = credential.system_state
    if not model_id and state is SystemState.INVALID_KEY:
        state = SystemState.OK
    after = draft.result(system_state=state, trial_count=0)
    return Step(after, {}, tuple(draft.transitions))


def cleared_by_secret(credential: Credential, now_unix_s: float) -> Step:
    """Return a credential with a new secret: what was refused was the old one."""
    draft = Draft(credential, now_unix_s)
    for mark in tuple(draft.marks.values()):
        if mark.kind is MarkKind.AUTH:
            _lift(draft, mark, now_unix_s, Cause.LOGIN)
    state = SystemState.OK
    after = draft.result(system_state=state, refresh_count=0, refresh_retry_unix_s=0.0)
    return Step(after, {}, tuple(draft.transitions))


def blocked_by_token(credential: Credential, until_unix_s: float, now_unix_s: float) -> Step:
    """Return a credential that has no token to send until its next refresh."""
    draft = Draft(credential, now_unix_s)
    draft.put(Mark(MarkKind.AUTH, now_unix_s, until_unix_s), Cause.REJECTION)
    return Step(draft.result(), {}, tuple(draft.transitions))


def _lift(draft: Draft, mark: Mark, now_unix_s: float, cause: Cause) -> None:
    if mark.end_unix_s is None:
        draft.end(mark, now_unix_s, cause, level=STARTS_ANEW)
    elif mark.level != STARTS_ANEW:
        draft.forget_level(mark)


def _is_answered(report: Report) -> bool:
    """Return whether the headers are those of a 2xx answer, even if its stream broke later."""
    status = report.http_status
    is_of_nobody = report.end_kind in (EndKind.CALLER_GONE, EndKind.NOT_SENT)
    return not is_of_nobody and status is not None and 200 <= status < 300


def _signals(credential: Credential, report: Report, rules: Rules, at: float) -> Signals:
    if not report.headers:
        return NO_SIGNALS
    if rules.reads_codex(credential.spec):
        return codex(report.headers, at, rules.codex_warn_percent)
    if rules.reads_unified(credential.spec):
        return unified(report.headers, at)
    return NO_SIGNALS


def _refuse(
    draft: Draft,
    effect: Effect,
    report: Report,
    signals: Signals,
    facts: BodyFacts,
    subject: Subject,
    rules: Rules,
    at: float,
) -> None:
    kind = draft.credential.spec.kind
    if effect is Effect.THROTTLED:
        Rejection(draft, report, signals, facts, subject, rules, at).apply()
        return
    block: Block | None = None
    match effect:
        case Effect.REFUSED:
            block = Block(MarkKind.AUTH, steps_s=(AUTH_BLOCK_S,))
        case Effect.UNPAID:
            block = Block(MarkKind.BILLING, steps_s=(BILLING_BLOCK_S,))
        case Effect.FORBIDDEN:
            model_id = "" if facts.is_organisation_wide else subject.model_id
            block = Block(MarkKind.AUTH, model_id, steps_s=(FORBIDDEN_BLOCK_S,))
        case Effect.FEATURE:
            block = Block(
                MarkKind.QUOTA,
                feature=report.refused_feature,
                until_unix_s=believed(draft.credential, wait_until(report.headers, at), at),
                steps_s=(FEATURE_BLOCK_S,),
            )
        case Effect.UNSUPPORTED if is_remembered(kind, effect):
            block = Block(MarkKind.UNSUPPORTED, subject.model_id, steps_s=(UNSUPPORTED_BLOCK_S,))
        case Effect.NO_SUCH_MODEL if is_remembered(kind, effect):
            steps_s = (ENDPOINT_REFUSAL_S,) if kind is CredentialKind.GATEWAY else ABSENT_STEPS_S
            block = Block(MarkKind.UNSUPPORTED, subject.model_id, steps_s=steps_s)
        case _:
            pass
    if block is not None:
        put_block(draft, block, rules, at, report.send_unix_s)


def _bound_families(credential: Credential, signals: Signals, subject: Subject) -> tuple[str, ...]:
    """Return the families that draw on ``7d_oi``, one more where this response shows it."""
    bound = credential.bound_families
    is_shown = (
        signals.claim.endswith("_overage_included")
        or signals.status(OVERAGE_INCLUDED) is Status.REJECTED
    )
    if not (is_shown and subject.family) or subject.family in bound:
        return bound
    return tuple(sorted((*bound, subject.family)))


def _state_after(draft: Draft, effect: Effect) -> SystemState:
    """Return the state of a credential; a key that is refused again and again is given up."""
    state = draft.credential.system_state
    if effect is not Effect.REFUSED or state is not SystemState.OK:
        return state
    if draft.credential.spec.kind not in _KEYS:
        return state
    is_given_up = any(
        mark.kind is MarkKind.AUTH
        and not mark.model_id
        and mark.end_unix_s is None
        and mark.level >= REFUSALS_UNTIL_INVALID - 1
        for mark in draft.marks.values()
    )
    return SystemState.INVALID_KEY if is_given_up else state


def _has_quota_block(marks: Iterable[Mark]) -> bool:
    return any(
        mark.kind in (MarkKind.QUOTA, MarkKind.BILLING) and mark.end_unix_s is None
        for mark in marks
    )
