"""The command ``pointsman``; ``python -m services.cli`` is the same."""

from __future__ import annotations

import sys

from typer.exceptions import Abort, TyperException
from typer.main import get_command

from services.cli.app import app
from services.runtime import launch


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 usage or configuration error."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Return the exit code of a command line; whatever goes wrong is one line."""
    return launch.guarded(lambda: _run(arguments))


def _run(arguments: list[str]) -> int:
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


if __name__ == "__main__":
    main()
