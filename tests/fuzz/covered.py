"""Searches one reader by coverage, with atheris: ``python -m tests.fuzz.covered TARGET FOLDER``.

The rest of the command line goes to libFuzzer. The bytes that it evolves are the decisions of the
same generator that hypothesis draws for, so each mutation is again a nearly valid input. What
breaks something is kept in FOLDER as the input itself.
"""

from __future__ import annotations

import importlib
import struct
import sys
from pathlib import Path

atheris = importlib.import_module("atheris")  # an extra: type checkers need not find it

with atheris.instrument_imports(include=["services.domain"]):
    from tests.fuzz.checks import check
    from tests.fuzz.choices import Choices
    from tests.fuzz.findings import finding_of, say
    from tests.fuzz.inputs import TARGETS, make_input

MAX_BYTES = 128
"""Longest list of decisions, two bytes each."""


def main(arguments: list[str]) -> None:
    """Search until the runs are over or something breaks; ends the process."""
    name, folder, *rest = arguments[1:]
    target = next(target for target in TARGETS if target.name == name)

    def attempt(raw: bytes) -> None:
        count = len(raw) // 2
        data = make_input(target, Choices(struct.unpack(f"<{count}H", raw[: count * 2])))
        try:
            check(target, data)
        except Exception as error:
            say(f"kept {finding_of(target, data, error).keep(Path(folder))}")
            raise

    options = [
        f"-max_len={MAX_BYTES}",
        "-len_control=0",
        f"-artifact_prefix={folder}/{name}.",
        "-timeout=10",
    ]
    atheris.Setup([arguments[0], *options, *rest], attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv)
