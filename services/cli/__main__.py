"""The command ``pointsman``; ``python -m services.cli`` is the same.

Nothing of ours is imported before ``main`` runs: an interrupt meanwhile ends the program at once.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typer.exceptions import TyperException


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 usage or configuration error."""
    _load()
    code = run(sys.argv[1:])
    sys.exit(_flushed() or code)


def run(arguments: list[str]) -> int:
    """Return the exit code of a command line; whatever goes wrong is one line."""
    from services.runtime import launch

    return launch.guarded(lambda: _run(arguments))


def _flushed() -> int:
    from services.runtime import launch

    try:
        sys.stdout.flush()
    except OSError as error:
        # The interpreter flushes once more, and would show a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return launch.unwritten(error)
    return launch.EXIT_OK


def _load() -> None:
    """Import what every command needs, without a traceback where that is interrupted."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    importlib.import_module("services.cli.app")
    signal.signal(signal.SIGINT, before)


def _run(arguments: list[str]) -> int:
    from typer.exceptions import Abort, TyperException
    from typer.main import get_command

    from services.cli.app import app
    from services.runtime import launch

    _check_text(arguments)
    command = get_command(app)
    try:
        code = command.main(arguments or ["--help"], prog_name="pointsman", standalone_mode=False)
    except TyperException as error:
        said = error.format_message().rstrip(".").replace("Value error, ", "")
        hint = f"`{_path(error)} --help` shows what there is"
        return launch.complain(f"{said}; {hint}", launch.EXIT_USAGE)
    except Abort:
        return launch.EXIT_FAILED
    return code if isinstance(code, int) else launch.EXIT_OK


def _check_text(arguments: list[str]) -> None:
    """Refuse bytes that are no text: no message, store or JSON could hold them.

    Raises:
        ConfigError: there are some; names the option that they stand at.
    """
    from services.cli.options import is_text
    from services.runtime.sources import ConfigError

    for before, argument in pairwise(["", *arguments]):
        if not is_text(argument):
            option = next((one for one in (argument, before) if one.startswith("--")), "")
            where = ascii(option.partition("=")[0])[1:-1] or f"argument {argument!a}"
            raise ConfigError(f"{where}: must be text in UTF-8")


def _path(error: TyperException) -> str:
    """Return the words of the command that was used wrongly."""
    context = getattr(error, "ctx", None)
    return "pointsman" if context is None else str(context.command_path)


if __name__ == "__main__":
    main()
