"""Runs a program to its exit code: uvloop, and one line for whatever stops it from starting.

The tree of errors that a user sees as one line::

    StartError                  what was asked for cannot be done: exit 1
    OSError                     an address or a file cannot be used: exit 1
    ConfigError                 the configuration is unusable: exit 2
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import uvloop

from services.runtime.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2


class StartError(Exception):
    """What was asked for cannot be done; the message is one line for the operator."""


def run(main: Callable[[], Coroutine[None, None, None]]) -> int:
    """Return the exit code of ``main``; the line about a failure goes to standard error."""
    try:
        uvloop.run(main())
    except ConfigError as error:
        return complain(str(error), EXIT_USAGE)
    except (StartError, OSError) as error:
        return complain(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_FAILED
    return EXIT_OK


def complain(message: str, code: int) -> int:
    """Write one line about a failure and return the exit code that goes with it."""
    sys.stderr.write(f"error: {' '.join(message.split())}\n")
    return code
