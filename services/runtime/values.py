"""Makes frozen values cheap to build where the product runs.

A frozen dataclass stores each of its fields by ``object.__setattr__``, which takes six times as
long as an assignment, and an action builds two hundred values: a tenth of its CPU. That nobody
writes to a value is for type checkers and tests to see, which know all of the code; a quickened
class lets its fields be assigned, and does so itself. What it is, compares and is keyed by stays.

An enum reads the ``value`` of a member by two functions in Python; a quickened one reads it in C.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    # Classes are looked at and made here: their members are Any.
    Value = type[Any]

PACKAGES = ("gateway", "services")
_GENERATED = "<string>"
"""Where dataclasses say that their code comes from; an ``__init__`` of a class's own stays."""


def quicken_all() -> int:
    """Quicken the values of all modules of ours that are loaded; return how many there are."""
    return sum(
        quicken(value)
        for name, module in tuple(sys.modules.items())
        if name.partition(".")[0] in PACKAGES
        for value in tuple(vars(module).values())
        if isinstance(value, type) and value.__module__ == name
    )


def quicken(value: Value) -> bool:
    """Make an enum, or a frozen dataclass with slots, faster; return whether it could be."""
    if issubclass(value, enum.Enum):
        return _quicken_enum(value)
    if not _is_quickenable(value):
        return False
    del value.__setattr__, value.__delattr__
    value.__init__ = _init_of(value)
    return True


def _quicken_enum(value: Value) -> bool:
    if hasattr(value, "value"):  # a member, something of its own, or quickened before
        return False
    value.value = property(attrgetter("_value_"))
    return True


def _is_quickenable(value: Value) -> bool:
    """Return whether a class is a plain frozen value whose fields all come as arguments."""
    parameters = value.__dict__.get("__dataclass_params__")
    if parameters is None or not parameters.frozen or "__slots__" not in value.__dict__:
        return False
    fields = dataclasses.fields(value)
    return (
        value.__bases__ == (object,)
        and len(fields) > 0
        and "__setattr__" in value.__dict__
        and len(fields) == len(value.__dataclass_fields__)
        and all(field.init and not field.kw_only for field in fields)
        and value.__init__.__code__.co_filename == _GENERATED
    )


def _init_of(value: Value) -> Callable[..., None]:
    given, fields = value.__init__, dataclasses.fields(value)
    made: dict[str, Any] = {}
    lines = [f"def __init__(self, {', '.join(field.name for field in fields)}):"]
    optional = given.__defaults__ or ()
    for default, field in zip(reversed(optional), reversed(fields), strict=False):
        if field.default_factory is not dataclasses.MISSING:
            made[f"_make_{field.name}"], made["_absent"] = field.default_factory, default
    for field in fields:
        name = field.name
        is_made = f"_make_{name}" in made
        stored = f"_make_{name}() if {name} is _absent else {name}" if is_made else name
        lines.append(f"    self.{name} = {stored}")
    if hasattr(value, "__post_init__"):
        lines.append("    self.__post_init__()")
    exec("\n".join(lines), made)  # noqa: S102 - as dataclasses do: names of fields of our own
    init: Any = made["__init__"]
    init.__defaults__ = given.__defaults__
    for name in ("__annotations__", "__doc__", "__module__", "__qualname__"):
        setattr(init, name, getattr(given, name))
    quick: Callable[..., None] = init
    return quick
