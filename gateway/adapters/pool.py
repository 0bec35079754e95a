"""The credentials service as operators use it, behind the office's port."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import grpc
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from gateway.codec import pool as codec
from gateway.office.model import LONG_TIMEOUT_S
from services.domain.errors import InvalidRequestError, PeerError, RouterError
from services.runtime import status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from services.runtime.channel import Channel
    from services.runtime.settings import CredentialSettings

    Facts = Mapping[str, object]

LIST_TIMEOUT_S = 2.0
CHANGE_TIMEOUT_S = 5.0
PAGE_SIZE = 50
"""Few enough for the largest message, whatever their lists hold."""

A = TypeVar("A")


class PoolClient:
    """Calls credentials over a channel."""

    def __init__(self, channel: Channel) -> None:
        self._stub = rpc.CredentialsServiceStub(channel)

    async def all(self) -> Sequence[Facts]:
        """Return every credential in the order of lists."""
        found: list[Facts] = []
        token = ""
        while True:
            asked = pb.ListCredentialsRequest(page_size=PAGE_SIZE, page_token=token)
            page = await _answer(self._stub.ListCredentials(asked, timeout=LIST_TIMEOUT_S))
            found += [codec.shown(one) for one in page.credentials]
            token = page.next_page_token
            if not token:
                return found

    async def create(self, wanted: CredentialSettings, idempotency_key: str, actor: str) -> Facts:
        """Store a credential and return it."""
        asked = codec.create_request(wanted, idempotency_key, actor)
        call = self._stub.CreateCredential(asked, timeout=CHANGE_TIMEOUT_S)
        return codec.shown((await _answer(call)).credential)

    async def change(self, before: Facts, wanted: CredentialSettings, actor: str) -> Facts:
        """Change what ``wanted`` states and return the credential as it is then."""
        asked = codec.update_request(before, wanted, actor)
        call = self._stub.UpdateCredential(asked, timeout=CHANGE_TIMEOUT_S)
        return codec.shown((await _answer(call)).credential)

    async def remove(self, credential_id: str, actor: str) -> None:
        """Remove a credential."""
        asked = pb.DeleteCredentialRequest(credential_id=credential_id, actor=actor)
        await _answer(self._stub.DeleteCredential(asked, timeout=CHANGE_TIMEOUT_S))

    async def reset(self, credential_id: str, model_id: str, actor: str) -> int:
        """Clear the marks of a credential and return how many stood."""
        asked = pb.ResetQuotaRequest(credential_id=credential_id, model_id=model_id, actor=actor)
        answer = await _answer(self._stub.ResetQuota(asked, timeout=CHANGE_TIMEOUT_S))
        return len(answer.transitions)

    async def reencrypt(self, actor: str) -> Facts:
        """Seal every secret anew and return how many were."""
        asked = pb.ReencryptCredentialsRequest(actor=actor)
        call = self._stub.ReencryptCredentials(asked, timeout=LONG_TIMEOUT_S)
        return codec.resealed(await _answer(call))


async def _answer(call: Awaitable[A]) -> A:
    """Return what a call answers.

    Raises:
        RouterError: what the service refuses, by the names of documents; or that it is away.
    """
    try:
        return await call
    except grpc.aio.AioRpcError as error:
        raise _told(status.error_of(error)) from None


def _told(fault: RouterError) -> RouterError:
    if isinstance(fault, InvalidRequestError):
        return codec.renamed(fault)
    if isinstance(fault, PeerError):
        message = f"credentials cannot do it now: {fault.message}"
        return RouterError(fault.reason, message, retry_after_s=fault.retry_after_s)
    return fault
