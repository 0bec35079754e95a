"""Has one token renewed: alone in the cluster, kept before all else, stored before use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.credentials.model import Minted, Secrets
from services.credentials.model.record import version_conflict
from services.credentials.policy import refresh
from services.credentials.server import telling
from services.domain.errors import RouterError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.credentials.model import Credential, Lease, NotMinted
    from services.credentials.policy.evidence import Step
    from services.credentials.ports import Store, TokenEndpoint
    from services.credentials.server.keepsakes import Keepsakes
    from services.credentials.server.options import Options
    from services.credentials.server.reports import Reports
    from services.credentials.server.vault import Vault
    from services.runtime.clock import Clock

ASK_AGAIN_S = 0.1
"""Pause before the store is asked again whether another replica is done."""
WAIT_S = 10.0
"""Longest time that another replica's refresh is waited for."""
LEASE_S = 15.0
"""How long a replica that vanished keeps others from a refresh: longer than endpoints may take."""

_log = get_logger("credentials")


@dataclass(frozen=True, slots=True)
class Pair:
    """New tokens and those that they replace."""

    version: int
    """Version of the secret that it replaces."""
    before: Secrets
    after: Secrets
    lease: Lease | None = None


class Minter:
    """Refreshes single credentials, and remembers the pairs that the store could not take yet."""

    def __init__(
        self,
        vault: Vault,
        reports: Reports,
        store: Store,
        endpoint: TokenEndpoint,
        keepsakes: Keepsakes,
        options: Options,
        clock: Clock,
    ) -> None:
        self._vault = vault
        self._reports = reports
        self._store = store
        self._endpoint = endpoint
        self._keepsakes = keepsakes
        self._options = options
        self._clock = clock
        self._unstored: dict[str, Pair] = {}
        self._is_closing = False

    def is_unstored(self, credential_id: str) -> bool:
        """Return whether a credential lives on a pair that the store does not have yet."""
        return credential_id in self._unstored

    def close(self) -> None:
        """Ask nothing new; what was asked goes on."""
        self._is_closing = True

    async def recover(self, credential_id: str = "") -> None:
        """Store the pairs that a process kept and could not store; empty: of all accounts."""
        for kept_id, version, after in await self._keepsakes.found():
            if credential_id in ("", kept_id):
                await self._recover(kept_id, version, after)

    async def refresh(self, credential_id: str, version: int) -> None:
        """Refresh one version of a secret, unless another replica does."""
        try:
            lease = await self._lease(credential_id, version)
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
            return
        if lease is None:
            return
        is_lost = False
        try:
            if not lease.is_orphaned or await self._is_left_alone(lease, version):
                await self._vault.poll()
                credential = self._current(credential_id, version)
                if credential is not None and not self._is_put_off(credential):
                    is_lost = await self._mint(credential, lease)
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
        is_open = self._current(credential_id, version) is not None
        # Else, and where this is cancelled, it lapses: whoever had it may come back yet.
        if not ((is_open and lease.is_orphaned) or credential_id in self._unstored):
            await self._free(lease, is_doubtful=is_open and (is_lost or lease.is_doubtful))

    async def store_late(self) -> None:
        """Store the pairs that could not be stored when they came."""
        for credential_id, pair in tuple(self._unstored.items()):
            try:
                await self._settle_pair(credential_id, pair)
            except RouterError:
                if not self._is_outdated(credential_id, pair):
                    continue
            else:
                telling.REFRESHES.labels("stored_late").inc()
                _log.info("token_stored_late")
            del self._unstored[credential_id]
            await self._keepsakes.drop(credential_id)
            if pair.lease is not None:
                await self._free(pair.lease)

    async def give_up(self, credential: Credential, code: str) -> None:
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

    async def _lease(self, credential_id: str, version: int) -> Lease | None:
        """Return the right to ask; None: another replica has asked, or still does."""
        try:
            async with asyncio.timeout(WAIT_S):
                lease = await self._store.take_lease(credential_id, LEASE_S)
                while lease is None:
                    await asyncio.sleep(ASK_AGAIN_S)
                    await self._vault.poll()
                    if self._is_closing or self._current(credential_id, version) is None:
                        return None
                    lease = await self._store.take_lease(credential_id, LEASE_S)
                return lease
        except TimeoutError:
            return None

    async def _is_left_alone(self, lease: Lease, version: int) -> bool:
        """Return whether nobody stores what the last holder of a lease was perhaps answered.

        It fell silent: killed, or cut off from the store. Its question may have spent the refresh
        token, so it gets time to come back with the answer before the token is sent once more.
        """
        for _ in range(round(self._options.orphan_wait_s / ASK_AGAIN_S)):
            await self.recover(lease.credential_id)
            await self._vault.poll()
            if self._is_closing or self._current(lease.credential_id, version) is None:
                return False
            await asyncio.sleep(ASK_AGAIN_S)
        return await self._store.extend_lease(lease, LEASE_S)

    async def _free(self, lease: Lease, *, is_doubtful: bool = False) -> None:
        try:
            await self._store.free_lease(lease, is_doubtful=is_doubtful)
        except RouterError as error:
            _log.warning("refresh_lease_kept", reason=error.reason.value)

    def _current(self, credential_id: str, version: int) -> Credential | None:
        """Return a credential that still has the secret to be refreshed; None: it has not."""
        credential = self._vault.stored(credential_id)
        if credential is None or credential.credential_version != version:
            return None
        secrets = self._vault.secrets_of(credential_id)
        return credential if refresh.is_refreshed(credential, secrets) else None

    def _is_put_off(self, credential: Credential) -> bool:
        """Return whether nobody is to ask now: another replica just did, in vain, or we end."""
        return self._is_closing or credential.refresh_retry_unix_s > self._clock.now_unix_s()

    async def _mint(self, credential: Credential, lease: Lease) -> bool:
        """Ask for new tokens and store them; return whether they may have been given, and lost."""
        spec = credential.spec
        before = self._vault.secrets_of(credential.id)
        url = self._options.token_urls.get(spec.kind, "")
        client = self._options.token_clients.get(spec.kind)
        if not url or client is None:
            return False
        asked_unix_s = self._clock.now_unix_s()
        reply = await self._endpoint.ask(refresh.request_of(spec.kind, before, url, client))
        answer = refresh.answer_of(reply, asked_unix_s)
        if isinstance(answer, Minted):
            after = refresh.renewed(before, answer, asked_unix_s)
            pair = Pair(credential.credential_version, before, after, lease)
            await self._keepsakes.keep(credential, pair.version, after)
            await self._store_pair(credential, pair)
            return False
        await self._note_failure(credential, before, answer, is_retold=lease.is_doubtful)
        return answer.is_doubtful

    async def _store_pair(self, credential: Credential, pair: Pair) -> None:
        """Store a pair in one step; where that fails it is used and stored later.

        It fails where the store is down, and where others write the record all the time.
        """
        try:
            await self._settle_pair(credential.id, pair)
        except RouterError:
            if self._is_outdated(credential.id, pair):
                telling.REFRESHES.labels("overtaken").inc()
                await self._keepsakes.drop(credential.id)
                return  # removed, or a person logged in meanwhile: theirs is the newest
            telling.REFRESHES.labels("not_stored").inc()
            _log.error("new_token_not_stored", fingerprint=credential.fingerprint)
            self._unstored[credential.id] = pair
            self._vault.hold(self._pair_step(credential, pair).credential, pair.after)
            return
        await self._keepsakes.drop(credential.id)
        telling.REFRESHES.labels("done").inc()
        _log.info("token_refreshed", fingerprint=credential.fingerprint)

    async def _recover(self, credential_id: str, version: int, after: Secrets) -> None:
        credential = self._vault.stored(credential_id)
        if credential is None:
            return
        pair = Pair(version, self._vault.secrets_of(credential_id), after)
        try:
            await self._settle_pair(credential_id, pair)
        except RouterError:
            if not self._is_outdated(credential_id, pair):
                return
        else:
            telling.REFRESHES.labels("recovered").inc()
            _log.info("token_recovered", fingerprint=credential.fingerprint)
        await self._keepsakes.drop(credential_id)

    async def _settle_pair(self, credential_id: str, pair: Pair) -> None:
        def step_of(current: Credential) -> Step:
            if not refresh.is_replaced_by(current, pair.version, pair.after):
                raise version_conflict()
            return self._pair_step(replace(current, credential_version=pair.version), pair)

        await self._reports.settle(credential_id, step_of, secrets=lambda _: pair.after)

    def _is_outdated(self, credential_id: str, pair: Pair) -> bool:
        """Return whether a pair is of no use any more: the account is gone, or has a newer one."""
        current = self._vault.stored(credential_id)
        return current is None or not refresh.is_replaced_by(current, pair.version, pair.after)

    def _pair_step(self, current: Credential, pair: Pair) -> Step:
        is_rotated = pair.before.refresh_token != pair.after.refresh_token
        spent = self._vault.hasher.declared(pair.before.refresh_token) if is_rotated else ""
        now = self._clock.now_unix_s()
        return refresh.after_refresh(current, pair.before, pair.after, spent, now)

    async def _note_failure(
        self, credential: Credential, before: Secrets, answer: NotMinted, *, is_retold: bool
    ) -> None:
        """Note that there is no new token; ``is_retold``: the question may have been asked before,
        by a process that did not live to store the answer."""
        version, now = credential.credential_version, self._clock.now_unix_s()
        if answer.is_final:
            await self._vault.poll()
            if self._current(credential.id, version) is not None:
                code = "answer_lost" if is_retold else answer.code
                await self.give_up(credential, code)
            return
        telling.REFRESHES.labels(answer.code).inc()
        _log.warning("refresh_failed", code=answer.code, fingerprint=credential.fingerprint)

        def step_of(current: Credential) -> Step:
            if current.credential_version != version:
                raise version_conflict()
            return refresh.after_failure(current, before, answer.wait_s, now)

        try:
            await self._reports.settle(credential.id, step_of)
        except RouterError as error:
            _log.warning("refresh_put_off", reason=error.reason.value)
