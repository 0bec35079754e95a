"""A value of ours is one of dataclasses in all but what refuses a change while the program runs."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field

import pytest

from services.domain.copying import replace
from services.domain.frozen import dataclass


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    number: int
    words: str = field(default="", repr=False)
    kept: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True)
class Ours:
    number: int
    words: str = field(default="", repr=False)
    kept: list[int] = field(default_factory=list, compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    number: int


@dataclass(frozen=True, slots=True, repr=False)
class Silent:
    secret: str


def test_it_is_made_compared_hashed_and_shown_as_theirs() -> None:
    ours, theirs = Ours(1, "a", [2]), Theirs(1, "a", [2])
    assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
    assert hash(ours) == hash(theirs) == hash(Ours(1, "a", []))
    assert ours == Ours(1, "a", [])
    assert ours != Ours(2, "a", [2])
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")


def test_it_is_copied_and_pickled_as_theirs() -> None:
    ours = Ours(1, "a", [2])
    assert replace(ours, number=2) == dataclasses.replace(ours, number=2) == Ours(2, "a")
    assert pickle.loads(pickle.dumps(ours)) == copy.deepcopy(ours) == ours  # noqa: S301 - our own


def test_one_without_equality_is_itself_alone() -> None:
    one = Single(1)
    assert one != Single(1)
    assert {one, Single(1)} > {one}


def test_one_that_shows_nothing_stays_so() -> None:
    assert "key" not in repr(Silent("key"))


def test_it_has_no_other_fields_than_its_own() -> None:
    with pytest.raises(AttributeError):
        Ours(1).other = 2  # type: ignore[attr-defined]  # what is refused


def test_its_fields_are_set_without_a_call_each() -> None:
    assert "__setattr__" in vars(Theirs)
    assert "__setattr__" not in vars(Ours)
