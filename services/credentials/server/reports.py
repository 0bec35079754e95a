"""Applies what dispatch reports: frees slots, and turns evidence into stored marks."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from services.credentials.model import Phase, ReportOutcome
from services.credentials.policy.evidence import observe, reviewed, swept
from services.credentials.server import telling
from services.credentials.server.bounded import Bounded
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.credentials.model import AuditEntry, Credential, Report, Secrets, Transition
    from services.credentials.policy.evidence import Rules, Seen, Step
    from services.credentials.policy.evidence.rules import Sight
    from services.credentials.server.affinity import Affinities
    from services.credentials.server.feed import Feed
    from services.credentials.server.lapses import Lapses
    from services.credentials.server.paths import Paths
    from services.credentials.server.presented import PresentedBook
    from services.credentials.server.setbacks import Setbacks
    from services.credentials.server.slots import Slots
    from services.credentials.server.usages import Usages
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

MAX_HEARD = 65_536
MAX_WATCHED = 16_384
STORE_WAIT_S = 0.5
"""Longest wait for the store: who reports waits a second for a whole batch."""
STORE_REST_S = 2.0
"""How long a store that is silent is left alone by the next reports."""
SWEEP_S = 1.0
"""Pause between two looks for marks whose time has passed; they do not count any more before."""

_log = get_logger("credentials")


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where what a report says goes to."""

    vault: Vault
    slots: Slots
    presented: PresentedBook
    setbacks: Setbacks
    paths: Paths
    affinities: Affinities
    usages: Usages
    feed: Feed
    lapses: Lapses
    clock: Clock


class Reports:
    """Applies each report once."""

    def __init__(self, evidence: Evidence, rules: Rules) -> None:
        self._evidence = evidence
        self._vault = evidence.vault
        self._clock = evidence.clock
        self._rules = rules
        self._heard: Bounded[tuple[str, int, int], ReportOutcome] = Bounded(MAX_HEARD)
        """Reports that came, with what a repeat is answered as far as it went."""
        self._seen: Bounded[str, Seen] = Bounded(MAX_WATCHED)
        self._doubts = telling.Doubts()
        self._to_review: set[str] = set()
        self._store_rests_until_s = 0.0

    async def apply(self, report: Report) -> tuple[ReportOutcome, tuple[Transition, ...]]:
        """Return what came of a report; a repeat changes nothing.

        Raises:
            RouterError: STORE_UNAVAILABLE; the report may then be sent again, and goes on from
                there.
        """
        identity = report.identity
        outcome = self._heard.get(identity)
        if outcome is ReportOutcome.DUPLICATE:
            return outcome, ()
        evidence, is_new = self._evidence, outcome is None
        credential_id = evidence.slots.credential_of(report)
        if outcome is None:
            is_known = await evidence.slots.touch(report)
            outcome = ReportOutcome.APPLIED if is_known else ReportOutcome.GRANT_UNKNOWN
            self._heard.put(identity, outcome)
        changes: tuple[Transition, ...] = ()
        if report.phase is not Phase.ALIVE:
            if credential_id:
                is_stale, changes = await self._observe(credential_id, report, is_new=is_new)
                outcome = ReportOutcome.STALE if is_stale else outcome
            elif report.presented_hash:
                evidence.presented.observe(report, self._rules, self._clock.now_unix_s())
        self._heard.put(identity, ReportOutcome.DUPLICATE)
        return outcome, changes

    async def settle(
        self,
        credential_id: str,
        step_of: Callable[[Credential], Step],
        *,
        expected: int = 0,
        secrets: Callable[[Secrets], Secrets] | None = None,
        audit: AuditEntry | None = None,
    ) -> tuple[Credential, tuple[Transition, ...]]:
        """Store what a step makes of a credential; return it and what changed among its marks.

        A transition is told after it is stored, by the process whose write won.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND, VERSION_CONFLICT or STORE_UNAVAILABLE.
        """
        found: tuple[Transition, ...] = ()

        def edit(current: Credential) -> Credential:
            nonlocal found
            step = step_of(current)
            found = step.transitions
            return step.credential

        after = await self._vault.change(
            credential_id, edit, expected=expected, secrets=secrets, audit=audit
        )
        return after, self._told(after, found)

    async def run(self) -> None:
        """Note lapsed marks until cancelled."""
        while True:
            await self._clock.sleep(SWEEP_S)
            try:
                await self.sweep()
            except RouterError as error:
                _log.warning("sweep_failed", reason=error.reason.value)

    def note_changed(self, credential_id: str) -> None:
        """Note that a credential changed, perhaps by another replica."""
        if self._seen.get(credential_id):
            self._to_review.add(credential_id)

    async def sweep(self) -> None:
        """Note the marks whose time has passed; each is told once in the whole cluster.

        So are those cleared that this replica saw cleared before it knew of them.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        now = self._clock.now_unix_s()
        for credential in self._evidence.lapses.due(self._vault.pool, now):
            await self._try_settle(credential.id, lambda current: swept(current, now))
        for credential_id in tuple(self._to_review):
            seen = self._seen.get(credential_id) or {}
            await self._try_settle(credential_id, partial(reviewed, seen=seen, now_unix_s=now))
            self._to_review.discard(credential_id)

    async def _try_settle(self, credential_id: str, step_of: Callable[[Credential], Step]) -> None:
        try:
            await self.settle(credential_id, step_of)
        except RouterError as error:
            if error.reason is not Reason.CREDENTIAL_NOT_FOUND:
                raise

    async def _observe(
        self, credential_id: str, report: Report, *, is_new: bool
    ) -> tuple[bool, tuple[Transition, ...]]:
        """Return whether the report was stale, and what it changed."""
        if is_new:
            self._evidence.setbacks.observe(credential_id, report)
        credential = self._vault.stored(credential_id)
        if credential is None:
            return False, ()
        now = self._clock.now_unix_s()
        seen = self._seen.get(credential_id) or {}

        def step_of(current: Credential) -> Step:
            return observe(current, report, seen, self._rules, now)

        step = step_of(credential)
        if is_new:
            self._evidence.paths.observe(credential, report)
            self._doubts.tell(step.doubts, now)
        self._evidence.usages.note(credential_id, step.usage)
        is_stale = bool(step.doubts) and step.doubts[0].kind == "stale_secret"
        changes: tuple[Transition, ...] = ()
        if step.credential is not credential:
            try:
                changes = await self._stored(credential_id, step_of)
            except RouterError as error:
                if error.reason is Reason.STORE_UNAVAILABLE:
                    self._overlay(credential_id, step_of)
                if error.reason is not Reason.CREDENTIAL_NOT_FOUND:
                    raise
        if step.seen is not seen:
            self._remember(credential_id, step.seen)
        return is_stale, changes

    async def _stored(
        self, credential_id: str, step_of: Callable[[Credential], Step]
    ) -> tuple[Transition, ...]:
        """Store what a step makes of a credential, within a time that batches of reports have."""
        if self._clock.monotonic_s() < self._store_rests_until_s:
            raise _away()
        try:
            async with asyncio.timeout(STORE_WAIT_S):
                _, changes = await self.settle(credential_id, step_of)
        except TimeoutError:
            self._store_rests_until_s = self._clock.monotonic_s() + STORE_REST_S
            raise _away() from None
        return changes

    def _overlay(self, credential_id: str, step_of: Callable[[Credential], Step]) -> None:
        """Let picks know what could not be stored; the report is sent again until it can be."""
        current = self._vault.pool.by_id.get(credential_id)
        if current is not None:
            self._vault.overlay(step_of(current).credential)

    def _remember(self, credential_id: str, seen: Seen) -> None:
        known = self._seen.get(credential_id) or {}
        newer = {name: sight for name, sight in seen.items() if _is_newer(sight, known.get(name))}
        self._seen.put(credential_id, {**known, **newer})

    def _told(self, after: Credential, found: tuple[Transition, ...]) -> tuple[Transition, ...]:
        told = tuple(replace(one, state_version=after.state_version) for one in found)
        if not after.is_usable:
            self._evidence.affinities.leave(after.id)
        for one in told:
            telling.transition(one)
            self._evidence.feed.publish(after.spec.installation_id, one)
        return told


def _away() -> RouterError:
    return RouterError(Reason.STORE_UNAVAILABLE, "the store of credentials does not answer")


def _is_newer(sight: Sight, known: Sight | None) -> bool:
    return known is None or sight.at_unix_s >= known.at_unix_s
