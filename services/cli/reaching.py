"""How a running router is reached: its addresses and a router key."""

from __future__ import annotations

from services.runtime.sources import ConfigError

DEFAULT_SERVER = "http://127.0.0.1:8080"
DEFAULT_RPC = "127.0.0.1:50050"
KEY_VARIABLE = "POINTSMAN_KEY"


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
