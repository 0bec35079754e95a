"""Bodies on their way out of their encoding."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.body import MOST_MEMBERS, decoded_body, read_body
from services.domain.wire.model import WireError

LIMIT = 1_000_000


@pytest.mark.spec("XLT-25")
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=5), st.integers(1, 60))
async def test_every_member_of_a_gzip_body_is_read_wherever_it_is_cut(
    members: list[bytes], step_bytes: int
) -> None:
    packed = b"".join(gzip.compress(member) for member in members)

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(packed), step_bytes):
            yield packed[at : at + step_bytes]

    read = await read_body(chunks(), "gzip", None, LIMIT)
    assert read == b"".join(members).removeprefix(b"\xef\xbb\xbf")


@pytest.mark.spec("XLT-25")
def test_a_gzip_body_has_a_bounded_number_of_members() -> None:
    member = gzip.compress(b"x")
    assert len(decoded_body(member * MOST_MEMBERS, "gzip", LIMIT)) == MOST_MEMBERS
    with pytest.raises(WireError, match="at most 4096 members"):
        decoded_body(member * (MOST_MEMBERS + 1), "gzip", LIMIT)
