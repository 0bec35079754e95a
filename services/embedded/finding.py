"""How this machine reaches a gateway, and how commands find one that runs."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from services.runtime import running

if TYPE_CHECKING:
    from gateway.settings import GatewaySettings


def url_of(listen: str, port: int) -> str:
    """Return the address at which this machine reaches what listens on ``port``."""
    host = listen.rpartition(":")[0]
    is_any = host in ("", "0.0.0.0", "[::]")  # noqa: S104 - compared only
    return f"http://{'127.0.0.1' if is_any else host}:{port}"


def marked(
    own: GatewaySettings, database: str, port: int
) -> contextlib.AbstractContextManager[bool]:
    """Return what lets commands find this process beside a database; nothing without a token.

    Commands need the admin token, and without one they go to the store.
    """
    if not own.admin_token.get_secret_value():
        return contextlib.nullcontext(enter_result=False)
    return running.marked(database, url_of(own.listen, port))
