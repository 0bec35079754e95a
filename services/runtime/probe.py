"""Asks a part of ours whether it is ready: the health check of containers.

``python -m services.runtime.probe 127.0.0.1:51054`` asks the ops listener at that address, prints
what it answers and exits 0 when it is ready, 1 otherwise. It imports none of the plumbing, so that
an answer costs little more than an interpreter.
"""

from __future__ import annotations

import http.client
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMEOUT_S = 2.0
EXIT_READY = 0
EXIT_NOT_READY = 1
EXIT_USAGE = 2


def main(arguments: Sequence[str]) -> int:
    """Return the exit code for a command line of one ``host:port``."""
    if len(arguments) != 1:
        return _said("usage: python -m services.runtime.probe HOST:PORT", EXIT_USAGE)
    try:
        status, text = _ask(arguments[0])
    except (OSError, http.client.HTTPException) as error:
        return _said(f"{arguments[0]} does not answer: {error}", EXIT_NOT_READY)
    return _said(text, EXIT_READY if status == http.client.OK else EXIT_NOT_READY)


def _ask(address: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(address, timeout=TIMEOUT_S)
    try:
        connection.request("GET", "/readyz")
        response = connection.getresponse()
        return response.status, response.read().decode(errors="replace")
    finally:
        connection.close()


def _said(text: str, code: int) -> int:
    sys.stdout.write(f"{text}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
