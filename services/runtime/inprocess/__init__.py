"""A channel without a socket: servicers of the same process, called directly.

:class:`InProcessServer` takes the same servicers and interceptors as a real server. Messages are
treated as frozen, deadlines and cancellation come from asyncio, and message sizes are enforced, so
that a caller cannot tell it from a socket except by its speed.
"""

from __future__ import annotations

from services.runtime.inprocess.context import PEER
from services.runtime.inprocess.server import InProcessServer, InProcessTransport

__all__ = ["PEER", "InProcessServer", "InProcessTransport"]
