"""Connections to the Valkey or Redis of ``[shared] valkey_url``: few, patient, and never needed."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from services.runtime.sources import SettingError

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from services.runtime.settings import CommonSettings

MAX_CONNECTIONS = 8


def shared_url(common: CommonSettings, service: str) -> str:
    """Return the address of what replicas share; empty: there is nothing to share.

    Raises:
        SettingError: it is set, and the package that speaks to it is not there.
    """
    url = common.shared.valkey_url.get_secret_value()
    if url and importlib.util.find_spec("redis") is None:
        raise SettingError(
            "shared.valkey_url", f"needs the package redis: install pointsman[{service}]"
        )
    return url


def connect(url: str, wait_s: float) -> Redis:
    """Return a client; it opens no connection before it is used.

    Calls queue for few connections: many at once would take longer to open than to use.
    """
    from redis.asyncio import BlockingConnectionPool, Redis  # one process needs no client
    from redis.maint_notifications import MaintNotificationsConfig

    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=MAX_CONNECTIONS,
        timeout=wait_s,
        socket_timeout=None,
        socket_connect_timeout=wait_s,
        decode_responses=True,
        # Where these may come, the pool gives out connections that a restart has closed.
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    return Redis.from_pool(pool)
