"""Frozen values that take no longer to make than others: an action makes hundreds.

:func:`dataclass` is that of ``dataclasses`` for checkers of types, which let nobody change a value.
While the program runs nothing does: a value that refuses to be changed has each field set by a call
of its own, and takes three times as long to make.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass  # type checkers know it: its fields, and what is frozen

__all__ = ["dataclass"]

if not TYPE_CHECKING:

    def dataclass(*, slots, frozen=False, eq=True, repr=True):  # noqa: A002, ANN001, ANN201 - typed above
        """Return what makes a class one of values, with the hash of a frozen one."""
        return dataclasses.dataclass(slots=slots, eq=eq, repr=repr, unsafe_hash=frozen and eq)
