"""What all programs that tests start have in common: a free port, and never outliving the test."""

from __future__ import annotations

import ctypes
import signal
import socket
import sys
from collections.abc import Callable

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that was free a moment ago; be ready to ask again."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def dying_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return what a child runs before its program, so that it gets `number` when we are killed.

    None where the system has no such thing; then only an orderly end stops the child.
    """
    if sys.platform != "linux":
        return None

    def ask_kernel() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)

    return ask_kernel
