"""Runs a program to its exit code: uvloop, and one line for whatever stops it from starting.

The tree of errors that a user sees as one line::

    StartError, RouterError     what was asked for cannot be done: exit 1
    OSError                     an address or a file cannot be used: exit 1
    ConfigError                 the configuration is unusable: exit 2
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

import structlog
import uvloop

from services.domain.errors import RouterError
from services.runtime import log, values
from services.runtime.sources import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

YOUNG_OBJECTS = 10_000
"""New objects between two looks for garbage; a request that runs has some hundreds of them."""

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2


class StartError(Exception):
    """What was asked for cannot be done; the message is one line for the operator."""


def run(main: Callable[[], Coroutine[None, None, None]]) -> int:
    """Return the exit code of a coroutine that was run to its end on uvloop.

    What was imported before is never looked at again for garbage.
    """

    def work() -> int:
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
        gc.enable()
        uvloop.run(main())
        return EXIT_OK

    return guarded(work)


def settle() -> None:
    """Make what was loaded ready for work; call it once all of it is built.

    Values become cheap to build, and nothing of it is ever looked at again for garbage.
    """
    values.quicken_all()
    gc.freeze()


def guarded(work: Callable[[], int]) -> int:
    """Return what ``work`` returns, else the exit code of the failure that was written as a line.

    A fault of our own is one line too; its traceback is logged where the level is ``debug``.
    """
    if not structlog.is_configured():
        log.configure()
    try:
        return work()
    except ConfigError as error:
        return complain(str(error), EXIT_USAGE)
    except OSError as error:
        return unwritten(error)
    except (StartError, RouterError) as error:
        return complain(str(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_FAILED
    except Exception as error:  # noqa: BLE001 - the outermost frame: users get no traceback
        log.get_logger("launch").debug("internal_fault", exc_info=True)
        hint = "POINTSMAN_LOG__LEVEL=debug shows where"
        return complain(f"internal fault: {type(error).__name__}: {error}; {hint}", EXIT_FAILED)


def unwritten(error: OSError) -> int:
    """Return the exit code of a file or a stream that cannot be used.

    Whoever closed a pipe that we write to had enough of it, and wants no word about it.
    """
    if isinstance(error, BrokenPipeError):
        return EXIT_FAILED
    return complain(str(error), EXIT_FAILED)


def complain(message: str, code: int) -> int:
    """Write one line about a failure and return the exit code that goes with it."""
    sys.stderr.write(f"error: {log.masked(' '.join(message.split()))}\n")
    return code
