"""Why a body cannot be read, or a request not be built."""

from __future__ import annotations


class WireError(Exception):
    """A body that cannot be read. ``path`` names the place (``messages[2].content``)."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message


class UnbuildableError(Exception):
    """A request that the target provably cannot express; ``path`` names what does not fit."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}" if path else message)
        self.path = path
        self.message = message
