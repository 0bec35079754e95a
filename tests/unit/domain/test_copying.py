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


@dataclass(frozen=True, slots=True)
class Checked:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


@dataclass(frozen=True)
class Open:
    number: int


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


def test_a_value_whose_fields_are_given_by_name_is_copied() -> None:
    assert replace(Named(number=1), number=2) == Named(number=2)


def test_a_copy_is_of_its_class_and_frozen() -> None:
    made = replace(Value(1), number=2)
    assert type(made) is Value
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.number = 3  # type: ignore[misc]  # what is refused


@pytest.mark.parametrize("value", [Value(1), One(1)])
def test_a_field_that_is_not_there_is_refused(value: Value | One) -> None:
    changes: Changes = {"other": 1}
    with pytest.raises(TypeError, match="no field other"):
        replace(value, **changes)


@pytest.mark.parametrize(
    ("value", "why"), [(Checked(1), "looks at its fields"), (Open(1), "object layout differs")]
)
def test_a_class_that_a_copy_might_not_do_justice_is_refused(
    value: Checked | Open, why: str
) -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match=why):
            replace(value, number=2)
