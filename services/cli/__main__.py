"""The command ``pointsman``; ``python -m services.cli`` is the same."""

from __future__ import annotations

import sys
from itertools import pairwise

from typer.exceptions import Abort, TyperException
from typer.main import get_command

from services.cli.app import app
from services.cli.options import is_text
from services.runtime import launch
from services.runtime.sources import ConfigError


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 usage or configuration error."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Return the exit code of a command line; whatever goes wrong is one line."""
    return launch.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
    _check_text(arguments)
    command = get_command(app)
    try:
        code = command.main(arguments or ["--help"], prog_name="pointsman", standalone_mode=False)
    except TyperException as error:
        said = error.format_message().rstrip(".")
        hint = "`pointsman --help` shows what there is"
        return launch.complain(f"{said}; {hint}", launch.EXIT_USAGE)
    except Abort:
        return launch.EXIT_FAILED
    return code if isinstance(code, int) else launch.EXIT_OK


def _check_text(arguments: list[str]) -> None:
    """Refuse bytes that are no text: no message, store or JSON could hold them.

    Raises:
        ConfigError: there are some; names the option that they stand at.
    """
    for before, argument in pairwise(["", *arguments]):
        if not is_text(argument):
            option = next((one for one in (argument, before) if one.startswith("--")), "")
            where = ascii(option.partition("=")[0])[1:-1] or f"argument {argument!a}"
            raise ConfigError(f"{where}: must be text in UTF-8")


if __name__ == "__main__":
    main()
