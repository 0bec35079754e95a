from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pointsman.common.v1 import action_pb2, attempt_pb2, usage_pb2
from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.domain.vocab import WireFamily
from services.handover.codec import enums
from services.handover.codec.calls import MAX_ANSWER_BYTES, Answer
from services.handover.model import (
    BindingRef,
    Call,
    CallEnd,
    Context,
    Outcome,
    Sealed,
    Summarizer,
    SummaryKind,
    Told,
)

CALL = Call(
    context=Context("a", "", "i", Sealed(b""), Sealed(b""), "", "", ""),
    kind=SummaryKind.SWITCH,
    summarizer=Summarizer(BindingRef("m", "p")),
    body=b"{}",
    estimated_tokens=1_000,
    first_attempt_number=1,
    budget_s=8.0,
)


def record(number: int) -> attempt_pb2.AttemptRecord:
    return attempt_pb2.AttemptRecord(attempt_number=number, upstream_request_id=f"r{number}")


def started(number: int) -> pb.DispatchResponse:
    return pb.DispatchResponse(attempt_started=pb.AttemptStarted(attempt_number=number))


def failed(number: int) -> pb.DispatchResponse:
    return pb.DispatchResponse(attempt_failed=pb.AttemptFailed(attempt=record(number)))


def taken(*parts: pb.DispatchResponse) -> Answer:
    answer = Answer(CALL)
    for part in parts:
        answer.take(part, 5.5)
    return answer


def records(told: Told) -> list[attempt_pb2.AttemptRecord]:
    return [attempt_pb2.AttemptRecord.FromString(row.record) for row in told.attempts]


@given(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=5))
def test_an_answer_is_its_chunks_in_order(chunks: list[bytes]) -> None:
    opening = pb.Head(wire_family=action_pb2.WIRE_FAMILY_OPENAI_CHAT, is_stream=True)
    head = pb.DispatchResponse(head=opening)
    tail = pb.DispatchResponse(tail=pb.Tail(attempt=record(1)))
    parts = [pb.DispatchResponse(chunk=chunk) for chunk in chunks]
    told = taken(started(1), head, *parts, tail).told()
    assert told.end is CallEnd.ANSWERED
    assert (told.family, told.body) == (WireFamily.OPENAI_CHAT, b"".join(chunks))
    assert told.is_stream
    assert records(told) == [record(1)]


def test_attempts_are_told_once_and_in_order() -> None:
    end = pb.DispatchResponse(failed=pb.Failed(attempts=[record(1), record(2)]))
    told = taken(started(1), failed(1), started(2), failed(2), end).told()
    assert told.end is CallEnd.REFUSED
    assert records(told) == [record(1), record(2)]


def test_only_an_attempt_that_was_not_told_is_estimated() -> None:
    assert records(taken(started(1), failed(1)).lost(CallEnd.LATE)) == [record(1)]
    chunk = pb.DispatchResponse(chunk=b"x" * 40)
    told = taken(started(1), failed(1), started(2), chunk).lost(CallEnd.LATE)
    first, second = records(told)
    assert first == record(1)
    assert second.attempt_number == 2
    assert second.outcome == attempt_pb2.ATTEMPT_OUTCOME_ABORTED
    assert second.kind == attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
    assert second.start_time.ToNanoseconds() == 5_500_000_000
    assert second.usage == usage_pb2.Usage(
        fresh_input_token_count=1_000,
        output_token_count=10,
        source=usage_pb2.USAGE_SOURCE_ESTIMATED,
    )
    assert taken().lost(CallEnd.UNREACHABLE) == Told(CallEnd.UNREACHABLE)


def test_an_answer_without_an_end_is_lost_and_a_part_of_later_is_skipped() -> None:
    assert taken(started(1), pb.DispatchResponse()).told().end is CallEnd.UNREACHABLE


def test_an_answer_is_cut_at_eight_mebibytes() -> None:
    chunk = pb.DispatchResponse(chunk=b"x" * 3_000_000)
    tail = pb.DispatchResponse(tail=pb.Tail(attempt=record(1)))
    assert len(taken(started(1), chunk, chunk, chunk, tail).told().body) == MAX_ANSWER_BYTES


@pytest.mark.parametrize("ours", [enums.FAMILIES, enums.ATTEMPT_KINDS, enums.OUTCOMES])
def test_every_member_has_one_number(ours: dict[object, int]) -> None:
    assert len(set(ours.values())) == len(ours)
    assert set(enums.OUTCOMES) == set(Outcome)
    assert set(enums.FAMILIES) == set(WireFamily)
    assert set(enums.ATTEMPT_KINDS) == set(SummaryKind)
