"""Keeps tokens of accounts fresh: one refresh at a time in the cluster, stored before use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.model import Minted, Secrets
from services.credentials.model.record import version_conflict
from services.credentials.policy import refresh
from services.credentials.server import telling
from services.domain.errors import Reason, RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.model import Credential, Lease, NotMinted
    from services.credentials.policy.evidence import Step
    from services.credentials.ports import Store, TokenEndpoint
    from services.credentials.server.options import Options
    from services.credentials.server.reports import Reports
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

LOOK_S = 1.0
"""Pause between two looks for tokens that end soon."""
ASK_AGAIN_S = 0.1
"""Pause before the store is asked again whether another replica is done."""
WAIT_S = 10.0
"""Longest time that another replica's refresh is waited for."""
SHARE_S = 4.0
"""Longest time that a request waits for a token; its own deadline is 5 s."""
LEASE_S = 15.0
"""How long a replica that vanished keeps others from a refresh: longer than endpoints may take."""

_log = get_logger("credentials")


@dataclass(frozen=True, slots=True)
class _Unstored:
    """A pair that the store could not take yet."""

    version: int
    """Version of the secret that it replaces."""
    before: Secrets
    after: Secrets


class Refresher:
    """Refreshes ahead of expiry, on demand, and after a refusal."""

    def __init__(
        self,
        vault: Vault,
        reports: Reports,
        store: Store,
        endpoint: TokenEndpoint,
        options: Options,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._reports = reports
        self._store = store
        self._endpoint = endpoint
        self._options = options
        self._clock = clock
        self._running: dict[str, asyncio.Task[None]] = {}
        self._unstored: dict[str, _Unstored] = {}

    async def run(self) -> None:
        """Look for tokens that end soon until cancelled."""
        while True:
            await self._clock.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Begin what is due, store what could not be stored, give up what cannot be renewed."""
        now = self._clock.now_unix_s()
        for credential_id in tuple(self._unstored):
            await self._store_late(credential_id)
        for credential in tuple(self._vault.pool.by_id.values()):
            if not credential.spec.is_plan or credential.id in self._unstored:
                continue
            secrets = self._vault.secrets_of(credential.id)
            due = refresh.due_unix_s(credential, secrets)
            if due is not None and due <= now:
                self._begin(credential)
            elif refresh.is_dead(credential, secrets, now):
                await self._give_up(credential, "expired")

    async def aclose(self) -> None:
        """Let what was asked be answered and stored, then close the connections."""
        await self.settled()
        for task in tuple(self._running.values()):
            task.cancel()
        await self._endpoint.aclose()

    async def settled(self) -> None:
        """Return when no refresh runs any more, or after the longest that one may take."""
        if self._running:
            await asyncio.wait(tuple(self._running.values()), timeout=LEASE_S)

    async def freshen(self, credential_id: str, rejected_version: int = 0) -> None:
        """Refresh a credential that has no token to send, or whose token was just refused.

        Returns after 4 s whatever came of it.
        """
        credential = self._vault.pool.by_id.get(credential_id)
        if credential is None or not self._needs_refresh(credential, rejected_version):
            return
        task = self._begin(credential)
        try:
            async with asyncio.timeout(SHARE_S):
                await asyncio.shield(task)
        except TimeoutError:
            return

    def is_sendable(self, credential_id: str) -> bool:
        """Return whether a credential has a token that may go into a request now."""
        return refresh.is_sendable(self._vault.secrets_of(credential_id), self._clock.now_unix_s())

    def _needs_refresh(self, credential: Credential, rejected_version: int) -> bool:
        secrets = self._vault.secrets_of(credential.id)
        if not refresh.is_refreshed(credential, secrets) or credential.id in self._unstored:
            return False
        now = self._clock.now_unix_s()
        if credential.refresh_retry_unix_s > now:
            return False
        is_rejected = 0 < credential.credential_version <= rejected_version
        return is_rejected or not refresh.is_sendable(secrets, now)

    def _begin(self, credential: Credential) -> asyncio.Task[None]:
        """Return the refresh of a credential that runs in this process, begun now if none does."""
        task = self._running.get(credential.id)
        if task is None:
            work = self._refresh(credential.id, credential.credential_version)
            task = self._running[credential.id] = asyncio.create_task(work)
            task.add_done_callback(lambda _: self._running.pop(credential.id, None))
        return task

    async def _refresh(self, credential_id: str, version: int) -> None:
        """Refresh one version of a secret, unless another replica does."""
        try:
            async with asyncio.timeout(WAIT_S):
                lease = await self._store.take_lease(credential_id, LEASE_S)
                while lease is None:
                    await asyncio.sleep(ASK_AGAIN_S)
                    await self._vault.poll()
                    if self._current(credential_id, version) is None:
                        return
                    lease = await self._store.take_lease(credential_id, LEASE_S)
        except TimeoutError:
            return
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
            return
        try:
            await self._vault.poll()
            credential = self._current(credential_id, version)
            if credential is not None:
                await self._mint(credential)
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
        finally:
            if credential_id not in self._unstored:
                await self._free(lease)

    async def _free(self, lease: Lease) -> None:
        try:
            await self._store.free_lease(lease)
        except RouterError as error:
            _log.warning("refresh_lease_kept", reason=error.reason.value)

    def _current(self, credential_id: str, version: int) -> Credential | None:
        """Return a credential that still has the secret to be refreshed; None: it has not."""
        credential = self._vault.stored(credential_id)
        if credential is None or credential.credential_version != version:
            return None
        secrets = self._vault.secrets_of(credential_id)
        return credential if refresh.is_refreshed(credential, secrets) else None

    async def _mint(self, credential: Credential) -> None:
        spec = credential.spec
        before = self._vault.secrets_of(credential.id)
        url = self._options.token_urls.get(spec.kind, "")
        client = self._options.token_clients.get(spec.kind)
        if not url or client is None:
            return
        asked_unix_s = self._clock.now_unix_s()
        reply = await self._endpoint.ask(refresh.request_of(spec.kind, before, url, client))
        answer = refresh.answer_of(reply, asked_unix_s)
        if isinstance(answer, Minted):
            after = refresh.renewed(before, answer, asked_unix_s)
            await self._store_pair(
                credential, _Unstored(credential.credential_version, before, after)
            )
        else:
            await self._note_failure(credential, before, answer)

    async def _store_pair(self, credential: Credential, pair: _Unstored) -> None:
        """Store a pair in one step; where that fails it is used and stored later."""
        try:
            await self._settle_pair(credential.id, pair)
        except RouterError as error:
            if error.reason is not Reason.STORE_UNAVAILABLE:
                telling.REFRESHES.labels("overtaken").inc()
                return  # removed, or a person logged in meanwhile: theirs is the newest
            telling.REFRESHES.labels("not_stored").inc()
            _log.error("new_token_not_stored", fingerprint=credential.fingerprint)
            self._unstored[credential.id] = pair
            self._vault.hold(self._pair_step(credential, pair).credential, pair.after)
            return
        telling.REFRESHES.labels("done").inc()
        _log.info("token_refreshed", fingerprint=credential.fingerprint)

    async def _settle_pair(self, credential_id: str, pair: _Unstored) -> None:
        def step_of(current: Credential) -> Step:
            if current.credential_version != pair.version:
                raise version_conflict()
            return self._pair_step(current, pair)

        await self._reports.settle(credential_id, step_of, secrets=lambda _: pair.after)

    def _pair_step(self, current: Credential, pair: _Unstored) -> Step:
        is_rotated = pair.before.refresh_token != pair.after.refresh_token
        spent = self._vault.hasher.declared(pair.before.refresh_token) if is_rotated else ""
        now = self._clock.now_unix_s()
        return refresh.after_refresh(current, pair.before, pair.after, spent, now)

    async def _store_late(self, credential_id: str) -> None:
        pair = self._unstored[credential_id]
        try:
            await self._settle_pair(credential_id, pair)
        except RouterError as error:
            if error.reason is Reason.STORE_UNAVAILABLE:
                return
        else:
            telling.REFRESHES.labels("stored_late").inc()
            _log.info("token_stored_late")
        del self._unstored[credential_id]

    async def _note_failure(
        self, credential: Credential, before: Secrets, answer: NotMinted
    ) -> None:
        version, now = credential.credential_version, self._clock.now_unix_s()
        if answer.is_final:
            await self._vault.poll()
            if self._current(credential.id, version) is not None:
                await self._give_up(credential, answer.code)
            return
        telling.REFRESHES.labels(answer.code).inc()
        _log.warning("refresh_failed", code=answer.code, fingerprint=credential.fingerprint)

        def step_of(current: Credential) -> Step:
            if current.credential_version != version:
                raise version_conflict()
            return refresh.after_failure(current, before, now)

        await self._reports.settle(credential.id, step_of)

    async def _give_up(self, credential: Credential, code: str) -> None:
        """Give a credential up until a person logs in, unless it has another secret by now."""

        def step_of(current: Credential) -> Step:
            if current.credential_version != credential.credential_version:
                raise version_conflict()
            return refresh.given_up(current)

        try:
            await self._reports.settle(credential.id, step_of)
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
            return
        telling.REFRESHES.labels("needs_login").inc()
        _log.error("credential_needs_login", code=code, fingerprint=credential.fingerprint)
