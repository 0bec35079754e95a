"""What a servicer sees of a caller in the same process."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import grpc

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    # grpc's aio types are incomplete for custom channels: messages are Any in this module.
    Pairs = tuple[tuple[str, str | bytes], ...]
    Send = Callable[[Any], Awaitable[None]]

PEER = "inproc:"
"""What ``context.peer()`` answers for callers of the same process."""


class Aborted(grpc.aio.AbortError):
    """Ends a handler with a status, as ``context.abort`` does on a socket."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing: Pairs = ()) -> None:
        super().__init__(details)
        self.code = code
        self.details = details
        self.trailing = trailing


class InProcessContext(grpc.aio.ServicerContext[Any, Any]):
    """What a servicer sees of its caller."""

    def __init__(self, deadline_s: float | None, metadata: Pairs, send: Send) -> None:
        self._deadline_s = deadline_s
        self._metadata = metadata
        self._send = send
        self.trailing: Pairs = ()

    def end(self) -> None:
        """Send nothing any more: the call is over."""
        self._send = _send_nothing

    def time_remaining(self) -> Any:
        """Return the seconds left; None without a deadline."""
        return None if self._deadline_s is None else max(0.0, self._deadline_s - time.monotonic())

    def invocation_metadata(self) -> Any:
        """Return the caller's metadata."""
        return self._metadata

    def peer(self) -> str:
        """Return the address of callers in the same process."""
        return PEER

    async def abort(
        self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()
    ) -> Any:
        """End the call with a status."""
        raise Aborted(code, details, (*self.trailing, *tuple(trailing_metadata)))

    async def abort_with_status(self, status: Any) -> Any:
        """End the call with a status that carries details."""
        await self.abort(status.code, status.details, status.trailing_metadata or ())

    def set_trailing_metadata(self, trailing_metadata: Any) -> None:
        """Set the metadata sent at the end."""
        self.trailing = tuple(trailing_metadata)

    async def send_initial_metadata(self, initial_metadata: Any) -> None:
        """Send nothing: callers of the same process read none."""

    async def read(self) -> Any:
        """Refuse: no service of ours reads from a client stream."""
        raise rpc_error(grpc.StatusCode.UNIMPLEMENTED, "no client streams")

    async def write(self, message: Any) -> None:
        """Send a message of a stream; waits while the reader is too far behind."""
        await self._send(message)

    def set_code(self, code: grpc.StatusCode) -> None:
        """Refuse: errors are raised as RouterError."""
        raise rpc_error(grpc.StatusCode.UNIMPLEMENTED, "raise a RouterError instead")

    def set_details(self, details: str) -> None:
        """Refuse: errors are raised as RouterError."""
        raise rpc_error(grpc.StatusCode.UNIMPLEMENTED, "raise a RouterError instead")

    def set_compression(self, compression: grpc.Compression) -> None:
        """Compress nothing: there is no wire."""

    def disable_next_message_compression(self) -> None:
        """Compress nothing: there is no wire."""

    def peer_identities(self) -> None:
        """Return no identities: there is no TLS."""

    def peer_identity_key(self) -> None:
        """Return no key: there is no TLS."""

    def auth_context(self) -> dict[str, Any]:
        """Return an empty context: there is no TLS."""
        return {}


async def _send_nothing(_: Any) -> None:
    """Drop a message that comes after its call."""


def rpc_error(code: grpc.StatusCode, details: str, trailing: Pairs = ()) -> grpc.aio.AioRpcError:
    """Return what a stub raises for a status."""
    return grpc.aio.AioRpcError(
        code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details=details
    )
