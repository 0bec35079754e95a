from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from services.runtime.randomness import MOST_BYTES, PIECES, random_bytes

COUNT = 3 * PIECES


def test_no_bytes_are_given_twice_to_any_thread() -> None:
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(lambda _: random_bytes(), range(COUNT)))
    assert len(set(given)) == COUNT
    assert {len(each) for each in given} == {MOST_BYTES}
    assert len(random_bytes(9)) == 9
