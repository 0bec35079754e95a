from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.enums import AttemptCause
from services.dispatch.model.outcome import Head, Part
from services.dispatch.model.plan import BindingRef
from services.dispatch.server.batches import MOST_BYTES, Batches
from services.domain.vocab import WireFamily


def head(body_bytes: int | None) -> Head:
    return Head(
        number=1,
        binding=BindingRef("m", "p"),
        family=WireFamily.ANTHROPIC,
        http_status=200,
        headers=(),
        body_bytes=body_bytes,
        context_window_tokens=1,
        plan_index=0,
        planned_provider="p",
        cause=AttemptCause.FIRST,
        credential=None,
        is_model_aliased=False,
        transforms=(),
    )


def batches_of(*parts: Part) -> list[tuple[Part, ...]]:
    batches = Batches()
    found = [batch for part in parts if (batch := batches.add(part))]
    rest = batches.rest()
    assert not batches.rest()
    return [*found, rest] if rest else found


CHUNKS = st.lists(st.sampled_from([b"x", b"y" * 40_000, b"z" * MOST_BYTES]), max_size=4)


@given(CHUNKS, st.sampled_from([None, 10]), st.booleans())
def test_every_part_comes_once_and_in_order(
    chunks: list[bytes], body_bytes: int | None, has_head: bool
) -> None:
    parts: list[Part] = [head(body_bytes), *chunks] if has_head else list(chunks)
    found = batches_of(*parts)
    assert [part for batch in found for part in batch] == parts
    assert all(
        sum(len(part) for part in batch if isinstance(part, bytes)) < 2 * MOST_BYTES
        for batch in found
    )


def test_the_first_chunk_of_a_stream_comes_with_its_head_and_the_others_alone() -> None:
    opened = head(None)
    assert batches_of(opened, b"a", b"b") == [(opened, b"a"), (b"b",)]


def test_a_short_answer_comes_at_once_and_a_long_one_as_it_goes() -> None:
    opened = head(10)
    assert batches_of(opened, b"a", b"b") == [(opened, b"a", b"b")]
    long = b"x" * MOST_BYTES
    assert batches_of(opened, long, b"b") == [(opened, long), (b"b",)]
