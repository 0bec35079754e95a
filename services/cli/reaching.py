"""How a running router is reached: its addresses and a router key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime.launch import StartError
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    import grpc

DEFAULT_SERVER = "http://127.0.0.1:8080"
DEFAULT_RPC = "127.0.0.1:50050"
KEY_VARIABLE = "POINTSMAN_KEY"


def unreachable(rpc: str, fault: grpc.aio.AioRpcError | None) -> StartError:
    """Return why RouterService at an address does not tell anything; None: nobody answered."""
    if fault is not None and fault.code().name != "UNAVAILABLE":
        return StartError(f"RouterService at {rpc} refused: {fault.details()}")
    return StartError(
        f"RouterService does not answer at {rpc}: set [gateway] rpc_listen, or name its address"
        " with --rpc"
    )


def checked_key(key: str) -> str:
    """Return a router key that can be sent.

    Raises:
        ConfigError: there is none.
    """
    if not key.isascii() or not key.strip():
        raise ConfigError(
            f"{KEY_VARIABLE}: set it to a router key; `pointsman keys create NAME` makes one"
        )
    return key.strip()
