"""What a 429 blocks, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import (
    FIVE_HOURS,
    OVERAGE_INCLUDED,
    PLAN_KINDS,
    SEVEN_DAYS,
    WINDOW_LENGTHS_S,
    MarkKind,
    OveragePolicy,
)
from services.credentials.policy.evidence.headers import Status, wait_until
from services.credentials.policy.evidence.ladder import Block, put_block
from services.credentials.policy.evidence.times import pacific_midnight
from services.credentials.policy.evidence.warning import RESET_GRACE_S, put_overage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import Credential, Report, Subject
    from services.credentials.policy.evidence.bodies import BodyFacts
    from services.credentials.policy.evidence.draft import Draft
    from services.credentials.policy.evidence.headers import Signals, WindowSignal
    from services.credentials.policy.evidence.rules import Rules

LONGEST_PLAN_HINT_S = 7 * 86_400.0
LONGEST_KEY_HINT_S = 86_400.0
_PASSED = (Status.ALLOWED, Status.ALLOWED_WARNING)
_WIDE_CLAIMS = {
    "five_hour": FIVE_HOURS,
    "five_hour_overage_included": FIVE_HOURS,
    "seven_day": SEVEN_DAYS,
}
_FAMILY_CLAIMS = {
    "seven_day_opus": SEVEN_DAYS,
    "seven_day_sonnet": SEVEN_DAYS,
    "seven_day_overage_included": OVERAGE_INCLUDED,
}


class Rejection:
    """One 429, and the blocks that it calls for."""

    def __init__(
        self,
        draft: Draft,
        report: Report,
        signals: Signals,
        facts: BodyFacts,
        subject: Subject,
        rules: Rules,
        observe_unix_s: float,
    ) -> None:
        self._draft = draft
        self._report = report
        self._signals = signals
        self._facts = facts
        self._subject = subject
        self._rules = rules
        self._at = observe_unix_s
        self._wait_until = wait_until(report.headers, observe_unix_s)

    def apply(self) -> None:
        """Set or extend the blocks."""
        spec = self._draft.credential.spec
        if self._rules.reads_codex(spec) and self._facts.is_plan_exhausted:
            self._exhaust_codex()
            return
        rejected = [w for w in self._signals.windows if w.status is Status.REJECTED]
        if rejected:
            self._reject(rejected)
        elif any(w.status is not None for w in self._signals.windows):
            if self._signals.aggregate is Status.REJECTED:
                until = self._later(self._signals.reset_unix_s, self._wait_until)
                self._put("", self._bounded(until))
            else:
                self._throttle()
        elif self._is_bound_by_claim():
            self._follow_claim()
        else:
            self._throttle()

    def _reject(self, rejected: Sequence[WindowSignal]) -> None:
        policy = self._draft.credential.spec.overage
        if self._signals.is_overage_permitted and policy is not OveragePolicy.DENY:
            if policy is OveragePolicy.LAST_RESORT:
                until, length_s = self._end_of(rejected)
                put_overage(self._draft, until, length_s, self._rules, self._at)
            self._throttle(is_hint_used=False)
            return
        names = {window.name for window in rejected}
        if names & {FIVE_HOURS, SEVEN_DAYS} or not self._is_proven_apart():
            for window in rejected:
                self._put(window.name, self._end_of_window(window, rejected), window)
            return
        for window in rejected:
            for family in self._families():
                until = self._end_of_window(window, rejected)
                self._put(window.name, until, window, family=family)

    def _is_proven_apart(self) -> bool:
        """Return whether the windows of the whole account are said to be free."""
        return all(self._signals.status(name) in _PASSED for name in (FIVE_HOURS, SEVEN_DAYS))

    def _families(self) -> tuple[str, ...]:
        """Return the families that draw on the included overage, the failing one first."""
        bound = self._draft.credential.bound_families
        own = (self._subject.family,) if self._subject.family else ()
        return own + tuple(family for family in bound if family not in own)

    def _is_bound_by_claim(self) -> bool:
        """Return whether a window is used up, though no window says so itself."""
        if self._signals.aggregate is Status.REJECTED:
            return True
        is_known = self._signals.claim in _WIDE_CLAIMS or self._signals.claim in _FAMILY_CLAIMS
        return self._signals.aggregate is None and is_known

    def _follow_claim(self) -> None:
        claim = self._signals.claim
        narrow = _FAMILY_CLAIMS.get(claim)
        window = narrow or _WIDE_CLAIMS.get(claim, "")
        said = self._signals.window(window)
        until = (said.reset_unix_s if said else None) or self._signals.reset_unix_s
        until = self._later(until, self._wait_until)
        end = self._bounded(until, WINDOW_LENGTHS_S.get(window))
        self._put(window, end, said, family=self._subject.family if narrow else "")

    def _exhaust_codex(self) -> None:
        full = [w for w in self._signals.windows if (w.utilization_ratio or 0.0) >= 1.0]
        until = self._facts.resets_unix_s
        if until is None or until <= self._at:
            until, _ = self._end_of(full)
        longest = max(full, key=lambda w: w.length_s, default=None)
        name, length_s = (longest.name, longest.length_s) if longest else ("", None)
        self._put(name, self._bounded(until, length_s))

    def _throttle(self, *, is_hint_used: bool = True) -> None:
        until = self._wait_until if is_hint_used else None
        delay_s = self._facts.retry_delay_s
        if is_hint_used and delay_s and self._rules.reads_gemini(self._draft.credential.spec):
            until = self._later(until, self._at + delay_s)
        if self._facts.is_daily and self._rules.reads_gemini(self._draft.credential.spec):
            until = self._later(until, pacific_midnight(self._at))
        self._block(
            Block(MarkKind.QUOTA, self._subject.model_id, until_unix_s=self._bounded(until))
        )

    def _put(
        self,
        window: str,
        until: float | None,
        signal: WindowSignal | None = None,
        *,
        family: str = "",
    ) -> None:
        used = None if signal is None else signal.utilization_ratio
        self._block(
            Block(
                MarkKind.QUOTA,
                family=family,
                window=window,
                until_unix_s=until,
                utilization_ratio=used,
            )
        )

    def _block(self, block: Block) -> None:
        put_block(self._draft, block, self._rules, self._at, self._report.send_unix_s)

    def _end_of(self, windows: Sequence[WindowSignal]) -> tuple[float | None, float]:
        """Return the latest reset of some windows, and the length of the longest."""
        resets = [w.reset_unix_s for w in windows if w.reset_unix_s is not None]
        until = max(resets, default=self._signals.reset_unix_s)
        length_s = max((w.length_s for w in windows), default=LONGEST_PLAN_HINT_S)
        return self._later(until, self._wait_until), length_s

    def _end_of_window(
        self, window: WindowSignal, rejected: Sequence[WindowSignal]
    ) -> float | None:
        """Return the end of one window's block: its own reset, and for the longest one what the
        upstream asks to wait."""
        until = window.reset_unix_s
        if until is None or until <= self._at:
            until = self._signals.reset_unix_s
        if window is max(rejected, key=lambda w: w.length_s):
            until = self._later(until, self._wait_until)
        return self._bounded(until, window.length_s)

    def _bounded(self, until: float | None, length_s: float | None = None) -> float | None:
        """Return a hint as far as it is believed; one that has passed is none."""
        if length_s is None:
            return believed(self._draft.credential, until, self._at)
        if until is None or until <= self._at:
            return None
        return min(until, self._at + length_s + RESET_GRACE_S)

    @staticmethod
    def _later(one: float | None, other: float | None) -> float | None:
        return max((end for end in (one, other) if end is not None), default=None)


def believed(credential: Credential, until: float | None, observe_unix_s: float) -> float | None:
    """Return a hint as far as it is believed where no window is known; None: it has passed."""
    if until is None or until <= observe_unix_s:
        return None
    is_plan = credential.spec.kind in PLAN_KINDS
    return min(until, observe_unix_s + (LONGEST_PLAN_HINT_S if is_plan else LONGEST_KEY_HINT_S))
