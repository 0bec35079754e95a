from __future__ import annotations

from gateway.sessions.marks import Marks


def test_what_was_marked_is_found_and_hardly_anything_else() -> None:
    marks = Marks()
    places = [(number.to_bytes(16, "big"), "default") for number in range(20_000)]
    for place in places[:10_000]:
        marks.add(place)
    assert all(place in marks for place in places[:10_000])
    assert sum(place in marks for place in places[10_000:]) < 100
