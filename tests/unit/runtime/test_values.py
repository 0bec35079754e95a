"""Quickened values are what they were, only cheaper to build."""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from services.runtime.values import quicken


@dataclass(frozen=True, slots=True)
class Plain:
    """A value of every sort of field that ours have."""

    name: str
    count: int = 3
    words: tuple[str, ...] = ()
    table: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """What it comes to."""
        return self.count + len(self.words)


@dataclass(frozen=True, slots=True)
class Checked:
    """A value that looks at itself."""

    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Watched:
    """A value with a slot that is no field."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Keyed:
    """A value with a field that is given by name."""

    name: str
    count: int = field(kw_only=True)


@dataclass(frozen=True, slots=True)
class Own:
    """A value that says itself how it is made."""

    name: str
    count: int

    def __init__(self, text: str) -> None:
        object.__setattr__(self, "name", text)
        object.__setattr__(self, "count", len(text))


@dataclass(slots=True)
class Mutable:
    """No value."""

    name: str
    count: int


SIGNATURE = inspect.signature(Plain)
IS_QUICK = {kind: quicken(kind) for kind in (Plain, Checked, Watched, Keyed, Own, Mutable)}


def test_plain_frozen_values_are_quickened_once_and_nothing_else() -> None:
    assert [kind for kind, is_quick in IS_QUICK.items() if is_quick] == [Plain, Checked, Watched]
    assert not any(map(quicken, IS_QUICK))


def test_a_quickened_value_is_what_it_was() -> None:
    value = Plain("a", words=("x", "y"))
    assert type(value) is Plain
    assert (value.name, value.count, value.words, value.table) == ("a", 3, ("x", "y"), {})
    assert value.total == 5
    assert value == Plain("a", 3, ("x", "y"), {}) != Plain("b")
    assert repr(value) == "Plain(name='a', count=3, words=('x', 'y'), table={})"
    assert Plain("a").table is not Plain("a").table
    assert inspect.signature(Plain) == SIGNATURE


def test_an_init_of_its_own_stays() -> None:
    assert (Own("abc").name, Own("abc").count) == ("abc", 3)


def test_only_type_checkers_and_tests_hold_it_frozen() -> None:
    value = Plain("a")
    value.name = "b"  # type: ignore[misc]  # what type checkers refuse
    assert value == Plain("b")
    assert hash(Checked(1, 2)) == hash((1, 2))


def test_it_is_copied_replaced_and_pickled() -> None:
    value = Checked(1, 2)
    assert dataclasses.replace(value, high=5) == Checked(1, 5)
    assert copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value  # noqa: S301 - our own bytes
    assert hash(value) == hash(Checked(1, 2))


def test_arguments_are_checked_as_before() -> None:
    with pytest.raises(ValueError, match="low is above high"):
        Checked(2, 1)
    with pytest.raises(TypeError, match=r"missing 1 required positional argument: 'high'"):
        Checked(1)  # type: ignore[call-arg]  # what is refused


class Colour(enum.StrEnum):
    """A set of words, as ours are."""

    RED = "red"
    BLUE = "blue"


class Odd(enum.Enum):
    """A member has the name of what is quickened."""

    value = "odd"


class Shouted(enum.Enum):
    """What is quickened is the class's own."""

    LOW = "low"

    @property
    def value(self) -> str:
        """In capitals."""
        return str(self._value_).upper()


def test_a_quickened_enum_reads_its_values_without_the_slow_look_up() -> None:
    assert quicken(Colour)
    assert isinstance(vars(Colour)["value"], property)
    assert [colour.value for colour in Colour] == ["red", "blue"]
    assert (Colour("red"), Colour["BLUE"], repr(Colour.RED)) == (
        Colour.RED,
        Colour.BLUE,
        "<Colour.RED: 'red'>",
    )
    assert pickle.loads(pickle.dumps(Colour.RED)) is Colour.RED  # noqa: S301 - our own bytes
    with pytest.raises(AttributeError):
        Colour.RED.value = "blue"  # type: ignore[misc]  # what is tried


def test_an_enum_with_a_value_of_its_own_keeps_it() -> None:
    assert not quicken(Odd)
    assert not quicken(Shouted)
    assert Odd["value"]._value_ == "odd"
    assert Shouted.LOW.value == "LOW"
