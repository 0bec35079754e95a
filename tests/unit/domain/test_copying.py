"""A copy with changed fields is what dataclasses make of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.copying import replace

Changes = dict[str, Any]  # of no one class: a checker would refuse what is refused here


@dataclass(frozen=True, slots=True)
class Value:
    number: int
    words: str = ""
    more: tuple[int, ...] = ()
    _hidden: list[int] = field(default_factory=list, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class One:
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    number: int


@dataclass(frozen=True)
class Checked:
    number: int
    twice: int = 0

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


@given(
    st.builds(Value, st.integers(), st.text(), st.tuples(st.integers())),
    st.fixed_dictionaries({}, optional={"number": st.integers(), "words": st.text()}),
)
def test_a_copy_is_what_dataclasses_make(value: Value, changes: Changes) -> None:
    made = replace(value, **changes)
    assert made == dataclasses.replace(value, **changes)
    assert made is not value
    assert made._hidden is value._hidden


def test_a_value_of_one_field_is_copied() -> None:
    assert replace(One(1), number=2) == One(2)


def test_a_copy_passes_the_checks_of_its_class() -> None:
    with pytest.raises(ValueError, match="negative"):
        replace(Checked(1), number=-1)


@pytest.mark.parametrize("value", [Value(1), One(1), Checked(1)])
def test_a_field_that_is_not_there_is_refused(value: Value | One | Checked) -> None:
    changes: Changes = {"other": 1}
    with pytest.raises(TypeError, match="no field other"):
        replace(value, **changes)


def test_a_class_whose_fields_have_no_places_is_refused() -> None:
    with pytest.raises(TypeError, match="no positional arguments"):
        replace(Named(number=1), number=2)
