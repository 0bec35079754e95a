"""Key material from the credentials service, held for a short while in memory only."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, TypeVar

import grpc
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.dispatch.codec import peers
from services.dispatch.model.access import CredentialDenied
from services.dispatch.model.enums import SecretPurpose
from services.dispatch.policy.classify import PLAN_KINDS, class_of_denial
from services.domain.copying import replace
from services.domain.errors import PeerError, Reason
from services.domain.vocab import FailureClass
from services.runtime import status

if TYPE_CHECKING:
    from services.dispatch.adapters.reports import ReportQueue
    from services.dispatch.model.access import Access, Grant, Report, SecretQuery
    from services.runtime.channel import Channel
    from services.runtime.clock import Clock

K = TypeVar("K")

MAX_HELD_S = 60.0
MAX_HELD = 4096
_ANEW = frozenset({Reason.GRANT_EXPIRED, Reason.GRANT_UNKNOWN, Reason.CREDENTIAL_NEEDS_LOGIN})
"""The grant is of no use; a selection made now may be."""


class _Expiring(Generic[K]):
    """Accesses by key, each until its time; the oldest go first when there are too many."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: OrderedDict[K, tuple[float, Access]] = OrderedDict()

    def get(self, key: K) -> Access | None:
        """Return what is held under a key and has not expired."""
        row = self._rows.get(key)
        if row is None:
            return None
        if row[0] <= self._clock.monotonic_s():
            del self._rows[key]
            return None
        return row[1]

    def left_s(self, key: K) -> float:
        """Return how much longer what is held under a key stays."""
        row = self._rows.get(key)
        return row[0] - self._clock.monotonic_s() if row is not None else 0.0

    def put(self, key: K, access: Access, seconds: float) -> None:
        """Hold an access for ``seconds``."""
        if seconds <= 0:
            return
        self._rows.pop(key, None)
        self._rows[key] = (self._clock.monotonic_s() + seconds, access)
        while len(self._rows) > MAX_HELD:
            self._rows.popitem(last=False)


class CredentialsClient:
    """Asks for secrets and hands reports on.

    A secret is held under its grant's cache key until the service says, 60 s at most. When the
    service does not answer, the last secret of the same (installation, session, provider) serves
    for as long. Secrets of presented credentials never come here.
    """

    def __init__(self, channel: Channel, reports: ReportQueue, clock: Clock) -> None:
        self._stub = rpc.CredentialsServiceStub(channel)
        self._reports = reports
        self._clock = clock
        self._held: _Expiring[str] = _Expiring(clock)
        self._last: _Expiring[tuple[str, bytes, str]] = _Expiring(clock)

    async def acquire(self, query: SecretQuery) -> Access:
        """Return what lets an attempt authenticate.

        Raises:
            CredentialDenied: none can be had, or the service does not answer and none is held.
        """
        grant = query.grant
        if grant is not None and grant.secret_cache_key and not query.rejected_version:
            held = self._held.get(grant.secret_cache_key)
            if held is not None:
                # Other sessions brought it here; from now on it is this one's last as well.
                self._last.put(_place(query), held, self._held.left_s(grant.secret_cache_key))
                return replace(held, grant=grant)
        try:
            message = await self._stub.AcquireSecret(
                peers.query_message(query), timeout=query.timeout_s
            )
        except grpc.aio.AioRpcError as failure:
            error = status.error_of(failure)
            if grant is not None and error.reason in _ANEW and not query.rejected_version:
                return await self.acquire(query.anew())
            is_silent = isinstance(error, PeerError) or error.reason is Reason.STORE_UNAVAILABLE
            if is_silent and not query.rejected_version:
                return self._last_one(query)
            raise CredentialDenied(
                class_of_denial(error.reason),
                error.message,
                retry_after_s=error.retry_after_s,
                is_all_tried=error.reason is Reason.ALL_CREDENTIALS_TRIED,
            ) from None
        access = peers.access_of(message)
        if message.HasField("cache_until_time"):
            until_unix_s = message.cache_until_time.seconds + message.cache_until_time.nanos / 1e9
            self._hold(query, access, until_unix_s - self._clock.now_unix_s())
        return access

    def report(self, report: Report) -> None:
        """Queue a report; never waits."""
        self._reports.put(report)

    def _hold(self, query: SecretQuery, access: Access, seconds: float) -> None:
        seconds = min(seconds, MAX_HELD_S)
        key = access.grant.secret_cache_key
        if key:
            self._held.put(key, access, seconds)
        self._last.put(_place(query), access, seconds)

    def _last_one(self, query: SecretQuery) -> Access:
        access = self._last.get(_place(query))
        if access is None or not _may_serve(access, query):
            raise CredentialDenied(
                FailureClass.CREDENTIALS_UNREACHABLE,
                "the credentials service does not answer",
                retry_after_s=1.0,
            )
        return replace(access, grant=_grant_for(query, access.grant))


def _place(query: SecretQuery) -> tuple[str, bytes, str]:
    return query.action.installation_id, query.action.session_key, query.binding.provider


def _may_serve(access: Access, query: SecretQuery) -> bool:
    """Return whether a held secret may stand in: untried, of the account that alone will do, and no
    plan for calls of our own."""
    is_serve = query.purpose is SecretPurpose.SERVE
    is_plan = access.grant.attribution.kind in PLAN_KINDS
    held_id = access.grant.credential_id
    is_meant = query.required_credential_id in ("", held_id) and held_id not in query.tried
    return is_meant and (is_serve or not is_plan)


def _grant_for(query: SecretQuery, held: Grant) -> Grant:
    """Return the grant to report on: the one asked about if it is of the held credential.

    The binding is that of the question: a name at the endpoint belongs to one model.
    """
    asked = query.grant
    if asked is not None and asked.credential_id == held.credential_id:
        return asked
    is_same_model = held.binding.model_id == query.binding.model_id
    return held if is_same_model else replace(held, binding=query.binding)
