"""Copies of frozen values with some of their fields changed.

:func:`replace` is that of ``dataclasses`` in half of its time: an action copies dozens of values.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from dataclasses import replace  # type checkers know it: the names and types of the fields

__all__ = ["replace"]

_Fields = tuple["Callable[[object], tuple[object, ...]]", "Mapping[str, int]"]
_known: dict[type, _Fields] = {}
"""Of each class what reads all fields, and where each stands among them."""

if not TYPE_CHECKING:

    def replace(value, /, **changes):  # noqa: ANN001, ANN003, ANN201 - typed above
        """Return a copy of a dataclass's instance with other values in the named fields.

        Raises:
            TypeError: it has no such field.
        """
        kind = value.__class__
        read, places = _known.get(kind) or _fields_of(kind)
        fields = list(read(value))
        for name, changed in changes.items():
            place = places.get(name)
            if place is None:
                raise TypeError(f"{kind.__name__} has no field {name}")
            fields[place] = changed
        return kind(*fields)


def _fields_of(kind: type) -> _Fields:
    """Return the fields of a class that is met for the first time."""
    own = dataclasses.fields(kind)
    names = tuple(field.name for field in own)
    if any(not field.init or field.kw_only for field in own):
        raise TypeError(f"{kind.__name__} has fields that are no positional arguments")
    read = attrgetter(*names) if len(names) > 1 else _only(names[0])
    found = _known[kind] = (read, {name: place for place, name in enumerate(names)})
    return found


def _only(name: str) -> Callable[[object], tuple[object, ...]]:
    read = attrgetter(name)
    return lambda value: (read(value),)
