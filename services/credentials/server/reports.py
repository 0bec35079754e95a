"""Applies what dispatch reports: frees slots, and turns evidence into stored marks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import Phase, ReportOutcome
from services.credentials.policy.marks import Effect as _Effect
from services.credentials.policy.marks import effect_of, is_stale, next_marks, transitions
from services.credentials.server.bounded import Bounded
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.model import Credential, Report, Transition
    from services.credentials.server.feed import Feed
    from services.credentials.server.grants import Grants
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

MAX_SEEN = 65_536

_log = get_logger("credentials")


class Reports:
    """Applies each report once."""

    def __init__(self, vault: Vault, grants: Grants, feed: Feed, clock: Clock) -> None:
        self._vault = vault
        self._grants = grants
        self._feed = feed
        self._clock = clock
        self._seen: Bounded[tuple[str, int, int], bool] = Bounded(MAX_SEEN)

    async def apply(self, report: Report) -> tuple[ReportOutcome, tuple[Transition, ...]]:
        """Return what came of a report; a repeat changes nothing.

        Raises:
            RouterError: STORE_UNAVAILABLE; the report may then be sent again.
        """
        if self._seen.get(report.identity):
            return ReportOutcome.DUPLICATE, ()
        credential_id = self._grants.credential_of(report.grant_id)
        is_known = self._touch(report)
        changes: tuple[Transition, ...] = ()
        credential = self._vault.pool.by_id.get(
            report.credential_id if credential_id is None else credential_id
        )
        outcome = ReportOutcome.APPLIED if is_known else ReportOutcome.GRANT_UNKNOWN
        if credential is not None and report.phase is not Phase.ALIVE:
            if is_stale(credential, report):
                outcome = ReportOutcome.STALE
            else:
                changes = await self._observe(credential, report)
        self._seen.put(report.identity, value=True)
        return outcome, changes

    async def changed(
        self, credential: Credential, after: Credential, cause: str
    ) -> tuple[Transition, ...]:
        """Publish and log the changes of marks between two states that are stored."""
        found = tuple(
            replace(one, state_version=after.state_version)
            for one in transitions(credential, after.marks, cause, self._clock.now_unix_s())
        )
        for one in found:
            _log.info(
                "credential_mark_cleared" if one.is_cleared else "credential_mark_set",
                kind=one.mark.kind.value,
                window=one.mark.window,
                model=one.mark.model_id,
                cause=cause,
                fingerprint=one.fingerprint,
                expire_unix_s=one.mark.expire_unix_s,
            )
            self._feed.publish(after.spec.installation_id, one)
        return found

    def _touch(self, report: Report) -> bool:
        """Keep or free the slot of the grant; return whether the grant is known."""
        match report.phase:
            case Phase.ENDED:
                return self._grants.release(report.grant_id)
            case Phase.ALIVE | Phase.HEADERS:
                return self._grants.renew(report.grant_id)

    async def _observe(self, credential: Credential, report: Report) -> tuple[Transition, ...]:
        if effect_of(report) is _Effect.NOTHING:
            return ()
        now = self._clock.now_unix_s()
        before = credential

        def edit(current: Credential) -> Credential:
            nonlocal before
            before = current
            return replace(current, marks=next_marks(current, report, now))

        if edit(credential) == credential:
            return ()
        try:
            after = await self._vault.change(credential.id, edit)
        except RouterError as error:
            if error.reason is Reason.CREDENTIAL_NOT_FOUND:
                return ()
            raise
        cause = "success" if effect_of(report) is _Effect.SUCCESS else "rejection"
        return await self.changed(before, after, cause)
