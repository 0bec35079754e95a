"""Ports for programs that take seconds to bind them."""

from __future__ import annotations

import random
import socket

FIRST, LAST = 20_000, 29_999
"""Below what the system hands out by itself: nobody else's server is met there by chance."""
ATTEMPTS = 100


def settled_port() -> int:
    """Return a port of 127.0.0.1 that is free, and that the system gives to no one else.

    Raises:
        OSError: none was found.
    """
    for _ in range(ATTEMPTS):
        port = random.randint(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise OSError(f"no free port between {FIRST} and {LAST}")
