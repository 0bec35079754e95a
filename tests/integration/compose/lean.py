"""Runs `pointsman` where some packages cannot be imported, as in an image that lacks them.

`python -m tests.integration.compose.lean '["name", …]' serve gateway` refuses the named ones.
"""

from __future__ import annotations

import importlib.abc
import json
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType


class Refusal(importlib.abc.MetaPathFinder):
    """Finds nothing, and says of some packages that they are not there."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return None, so that others look.

        Raises: ModuleNotFoundError, for a refused package.
        """
        if fullname.partition(".")[0] in self._names:
            message = f"No module named {fullname!r}: not in this image"
            raise ModuleNotFoundError(message, name=fullname)
        return None


def main(arguments: Sequence[str]) -> None:
    """Run the command line that follows the list of refused packages."""
    sys.meta_path.insert(0, Refusal(json.loads(arguments[0])))
    sys.argv = ["pointsman", *arguments[1:]]
    from services.cli.__main__ import main as pointsman

    pointsman()


if __name__ == "__main__":
    main(sys.argv[1:])
