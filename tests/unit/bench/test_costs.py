from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.costs import Samples, costs

STACKS: Samples = [
    (["orjson/x.py:loads", "gateway/body.py:decode", "aiohttp/web.py:handle"], 3),
    (["gateway/body.py:decode", "aiohttp/web.py:handle"], 1),
]


def test_own_time_is_the_leafs_and_whole_time_everybodys() -> None:
    found = costs(STACKS)
    assert found.own == {"orjson/x.py:loads": 0.75, "gateway/body.py:decode": 0.25}
    assert found.whole["gateway/body.py:decode"] == found.whole["aiohttp/web.py:handle"] == 1.0


def test_our_module_pays_for_what_it_called() -> None:
    found = costs(STACKS)
    assert found.packages == {"orjson": 0.75, "gateway/body": 0.25}
    assert found.rooms == {"gateway/body.py": 1.0}


@given(
    st.lists(
        st.tuples(
            st.lists(
                st.sampled_from(["a/b.py:f", "gateway/x/y.py:g", "services/z.py:h"]), min_size=1
            ),
            st.integers(min_value=1, max_value=9),
        ),
        min_size=1,
    )
)
def test_own_shares_add_up_to_all(stacks: list[tuple[list[str], int]]) -> None:
    found = costs(stacks)
    for shares in (found.own, found.packages, found.rooms):
        assert abs(sum(shares.values()) - 1) < 1e-9
    assert all(share <= found.whole[name] + 1e-9 for name, share in found.own.items())
