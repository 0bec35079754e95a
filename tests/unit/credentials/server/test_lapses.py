"""The next lapse is known without looking at every mark each time."""

from __future__ import annotations

from dataclasses import replace

from services.credentials.model import Mark, MarkKind, Pool, SystemState
from services.credentials.server.lapses import Lapses
from tests.unit.credentials.cases import NOW, credential


def lapsing(name: str, *seconds: float | None) -> object:
    marks = tuple(
        Mark(MarkKind.QUOTA, NOW, None if one is None else NOW + one, model_id=f"m{index}")
        for index, one in enumerate(seconds)
    )
    return credential(name, marks=marks)


def test_the_next_change_is_the_first_mark_to_lapse() -> None:
    pool = Pool.of(1, [lapsing("a", 9, 3, None), lapsing("b", 5), lapsing("c")])  # type: ignore[list-item]  # built above
    lapses = Lapses()
    assert lapses.next_unix_s(pool, NOW) == NOW + 3
    assert lapses.next_unix_s(pool, NOW + 3) == NOW + 5
    assert lapses.next_unix_s(pool, NOW + 5) is None
    assert [one.id for one in lapses.due(pool, NOW + 4)] == ["a"]
    assert [one.id for one in lapses.due(pool, NOW + 5)] == ["a", "b"]


def test_a_changed_credential_is_looked_at_anew() -> None:
    lapses = Lapses()
    pool = Pool.of(1, [credential("a")])
    assert lapses.next_unix_s(pool, NOW) is None
    changed = lapsing("a", 7)
    pool = pool.after(2, {"a": changed})  # type: ignore[dict-item]  # built above
    assert lapses.next_unix_s(pool, NOW) == NOW + 7


def test_nothing_lapses_of_what_cannot_be_read() -> None:
    aside = credential("a", marks=(Mark(MarkKind.QUOTA, NOW, NOW + 3),))
    pool = Pool.of(1, [replace(aside, system_state=SystemState.QUARANTINED)])
    lapses = Lapses()
    assert lapses.next_unix_s(pool, NOW) is None
    assert lapses.due(pool, NOW + 9) == []
