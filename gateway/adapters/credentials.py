"""The credentials service behind the gateway's port: questions, grants, and watched snapshots."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import grpc
from pointsman.credentials.v1 import credentials_pb2, credentials_pb2_grpc

from gateway.codec import answers, requests
from gateway.model import EligibilityAnswer
from services.domain.errors import PeerError, Reason, RouterError
from services.domain.vocab import CredentialKind
from services.runtime import status
from services.runtime.background import ended, in_background
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.model import (
        Action,
        BindingRef,
        EligibilityRecord,
        Grant,
        InstallationId,
        Presented,
        PresentedIdentity,
        Snapshot,
    )
    from services.runtime.channel import Channel
    from services.runtime.clock import Clock

ELIGIBILITY_TIMEOUT_S = 0.25
SELECT_TIMEOUT_S = 0.25
MINTING_TIMEOUT_S = 5.0
GIVE_BACK_TIMEOUT_S = 1.0
STALE_AFTER_S = 60.0
"""How long a snapshot holds without a sign of life of the watch that feeds it."""
ASK_AGAIN_AFTER_S = 300.0
"""Well under the time after which credentials forget who asked about an installation."""
_RECONNECT_S = 1.0
_LASTING = frozenset({CredentialKind.API_KEY, CredentialKind.GATEWAY, CredentialKind.NONE})
"""Kinds whose secrets never have to be minted."""

_log = get_logger("gateway")


@dataclass(slots=True)
class _Kept:
    """A snapshot with the times of its last confirmation and of our last question."""

    snapshot: Snapshot
    seen_s: float
    asked_s: float


class SnapshotBook:
    """The last snapshot of each installation, and how far it can be trusted."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._alive_s = float("-inf")

    def fresh(self, installation_id: str) -> Snapshot | None:
        """Return a snapshot that needs no question; None: ask."""
        kept = self._kept.get(installation_id)
        if kept is None:
            return None
        now_s = self._clock.monotonic_s()
        if now_s - kept.asked_s > ASK_AGAIN_AFTER_S:
            return None
        return kept.snapshot if self._is_alive(kept, now_s) else None

    def held(self, installation_id: str) -> Snapshot | None:
        """Return a snapshot that still holds though credentials do not answer."""
        kept = self._kept.get(installation_id)
        if kept is None or not self._is_alive(kept, self._clock.monotonic_s()):
            return None
        return kept.snapshot

    def known_version(self, installation_id: str) -> str:
        """Return the version that is kept, however old."""
        kept = self._kept.get(installation_id)
        return kept.snapshot.version if kept is not None else ""

    def answered(self, installation_id: str, snapshot: Snapshot | None) -> Snapshot | None:
        """Keep the answer to a question; None confirms what is kept."""
        now_s = self._clock.monotonic_s()
        if snapshot is not None:
            self._kept[installation_id] = _Kept(snapshot, now_s, now_s)
            return snapshot
        kept = self._kept.get(installation_id)
        if kept is None:
            return None
        kept.seen_s = kept.asked_s = now_s
        return kept.snapshot

    def watched(self, installation_id: str, snapshot: Snapshot) -> None:
        """Keep what the watch brought."""
        kept = self._kept.get(installation_id)
        now_s = self._clock.monotonic_s()
        asked_s = kept.asked_s if kept is not None else now_s
        self._kept[installation_id] = _Kept(snapshot, now_s, asked_s)

    def is_watched(self) -> None:
        """Take note of a sign of life of the watch."""
        self._alive_s = self._clock.monotonic_s()

    def forget(self) -> None:
        """Forget everything: changes may have been missed."""
        self._kept.clear()
        self._alive_s = float("-inf")

    def _is_alive(self, kept: _Kept, now_s: float) -> bool:
        return now_s - max(kept.seen_s, self._alive_s) <= STALE_AFTER_S


class CredentialsClient:
    """Calls credentials over a channel and keeps the snapshots that its watch brings."""

    def __init__(self, channel: Channel, clock: Clock) -> None:
        self._stub = credentials_pb2_grpc.CredentialsServiceStub(channel)
        self._clock = clock
        self._book = SnapshotBook(clock)
        self._watch: asyncio.Task[None] | None = None
        self._returns: set[asyncio.Task[None]] = set()
        self.is_watching = False
        """Whether the watch stands."""

    def start(self) -> None:
        """Begin to watch."""
        self._watch = in_background(self._watch_for_ever(), "watch-credentials")

    async def aclose(self) -> None:
        """End the watch, and what is given back."""
        for task in (self._watch, *self._returns):
            await ended(task)

    async def eligibility(
        self, installation_id: InstallationId, presented: Sequence[Presented]
    ) -> EligibilityAnswer:
        """Return what can serve; asks only when nothing fresh is kept or a secret was brought.

        Raises:
            RouterError: credentials refuses, or does not answer about a secret that was brought.
        """
        if not presented:
            kept = self._book.fresh(installation_id)
            if kept is not None:
                return EligibilityAnswer(kept)
        if len(presented) > 1:
            return await self._one_by_one(installation_id, presented)
        known_version = self._book.known_version(installation_id)
        request = requests.eligibility_request(installation_id, presented, known_version)
        try:
            answer = await self._stub.GetEligibility(request, timeout=ELIGIBILITY_TIMEOUT_S)
        except grpc.aio.AioRpcError as error:
            fault = status.error_of(error)
            if not isinstance(fault, PeerError):
                raise fault from None
            if presented:
                raise _unrecognised() from None
            return EligibilityAnswer(self._book.held(installation_id))
        fresh = answers.snapshot_of(answer.snapshot) if answer.HasField("snapshot") else None
        snapshot = self._book.answered(installation_id, fresh)
        known = answers.presented_of(answer.presented)
        return EligibilityAnswer(snapshot, tuple(zip(presented, known, strict=False)))

    async def _one_by_one(
        self, installation_id: InstallationId, presented: Sequence[Presented]
    ) -> EligibilityAnswer:
        """Ask about each brought credential alone: answers do not say which ones they left out."""
        answers = [await self.eligibility(installation_id, (item,)) for item in presented]
        pairs = tuple(pair for answer in answers for pair in answer.presented)
        return EligibilityAnswer(answers[-1].snapshot, pairs)

    async def select(
        self,
        action: Action,
        bindings: Sequence[BindingRef],
        record: EligibilityRecord,
        presented: Sequence[PresentedIdentity],
        max_wait_s: float = 0.0,
    ) -> Grant | None:
        """Return a grant; None when nobody answers in time."""
        request = requests.select_request(action, bindings, record, presented, max_wait_s)
        timeout_s = _select_timeout_s(record) + max_wait_s
        try:
            answer = await self._stub.SelectCredential(request, timeout=timeout_s)
        except grpc.aio.AioRpcError as error:
            fault = status.error_of(error)
            if isinstance(fault, PeerError):
                return None
            raise fault from None
        return answers.grant_of(answer)

    def give_back(self, action: Action, grant: Grant) -> None:
        """Free the slot of a grant that nobody else reports on; never waits.

        Where nobody answers, the grant lapses.
        """
        task = in_background(self._give_back(action, grant), "give-back")
        self._returns.add(task)
        task.add_done_callback(self._returns.discard)

    async def _give_back(self, action: Action, grant: Grant) -> None:
        request = requests.return_of(action, grant, self._clock.now_unix_s())
        with contextlib.suppress(grpc.aio.AioRpcError):
            await self._stub.ReportAttempt(request, timeout=GIVE_BACK_TIMEOUT_S)

    async def _watch_for_ever(self) -> None:
        resume_token = ""
        while True:
            request = credentials_pb2.WatchCredentialsRequest(
                resume_token=resume_token,
                wants_snapshot=not resume_token,
                wants_eligibility=True,
            )
            try:
                async for event in self._stub.WatchCredentials(request):
                    self._note(event)
                    resume_token = event.resume_token or resume_token
            except grpc.aio.AioRpcError as error:
                if error.code() is grpc.StatusCode.OUT_OF_RANGE:
                    resume_token = ""
                    self._book.forget()
                self._lost(error.code().name)
            else:
                self._lost("ended")
            await self._clock.sleep(_RECONNECT_S)

    def _note(self, event: credentials_pb2.WatchCredentialsResponse) -> None:
        self.is_watching = True
        self._book.is_watched()
        if event.WhichOneof("event") == "eligibility":
            snapshot = answers.snapshot_of(event.eligibility)
            self._book.watched(event.eligibility.installation_id, snapshot)

    def _lost(self, code: str) -> None:
        if self.is_watching:
            _log.warning("credentials_watch_lost", code=code)
        self.is_watching = False


def _unrecognised() -> RouterError:
    """Return the refusal of a brought credential that nobody could look at.

    Going on without it would let the operator pay for a caller who brought a credential.
    """
    message = "the credential brought with this request cannot be checked now; try again"
    return RouterError(Reason.STORE_UNAVAILABLE, message, retry_after_s=1.0)


def _select_timeout_s(record: EligibilityRecord) -> float:
    """Return the deadline of a selection: longer where a token may have to be minted."""
    may_mint = any(not _LASTING.issuperset(state.kinds) for state in record.enabled_providers)
    return MINTING_TIMEOUT_S if may_mint else SELECT_TIMEOUT_S
