"""The judge of the campaign finds what must not be: mixed attempts, missing ends, foreign bytes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import aiohttp
import pytest

from services.domain.vocab import WireFamily
from tests.chaos.campaign import MARK, left_open
from tests.chaos.judging import faults_of, is_served
from tests.chaos.schedules import Schedule, schedule
from tests.chaos.world import Seen
from tests.fakes.upstream import FakeUpstream, Fault, RecordedRequest

PLAN = Schedule(
    1,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_CHAT,
    0,
    is_stream=True,
    faults={
        "x": (Fault(cut_after=3, chunks=2, word="x0"), Fault(chunks=2, word="x1")),
        "y": (Fault(chunks=2, word="y0"),),
        "z": (Fault(chunks=2, word="z0"),),
    },
)


def delta(words: str, finish: str = "null") -> bytes:
    return (
        b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":'
        b'{"content":"%b"},"finish_reason":%b}]}\n\n' % (words.encode(), finish.encode())
    )


DONE = b"data: [DONE]\n\n"
ERROR = b'data: {"error":{"message":"broke off","type":"server_error","code":"upstream_error"}}\n\n'
GOOD = delta("y0 ") + delta("y0 ", '"stop"') + DONE


def asked(written: bytes) -> RecordedRequest:
    return RecordedRequest(
        1,
        "POST",
        "/v1/chat/completions",
        {},
        {},
        b"",
        {"model": "y-openai_chat-0"},
        0.0,
        written=bytearray(written),
    )


def seen(raw: bytes, *, status: int = 200, written: bytes | None = None) -> Seen:
    requests = [asked(raw if written is None else written)]
    return Seen(status, "text/event-stream", raw, is_left=False, requests=requests)


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        (GOOD, GOOD),
        (delta("y0 ") + ERROR, delta("y0 ")),
        (delta("y0 ") + b": keepalive\n\n" + delta("y0 ", '"stop"') + DONE, GOOD),
    ],
)
def test_a_clean_answer_has_no_fault(raw: bytes, written: bytes) -> None:
    assert not list(faults_of(PLAN, seen(raw, written=written)))


@pytest.mark.parametrize(
    ("raw", "written", "complaint"),
    [
        (delta("x0 ") + delta("y0 ", '"stop"') + DONE, GOOD, "several attempts"),
        (delta("y0 "), delta("y0 "), "no end"),
        (delta("y0 ", '"stop"') + DONE, delta("y0 ", '"stop"') + DONE, "instead of"),
        (delta("y0 y0 y0 ", '"stop"') + DONE, GOOD, "no beginning"),
        (b": hello\n\n" + GOOD, GOOD, "of no attempt"),
        (GOOD[:-1], GOOD, "cut"),
    ],
)
def test_what_a_client_must_not_see_is_found(raw: bytes, written: bytes, complaint: str) -> None:
    found = list(faults_of(PLAN, seen(raw, written=written)))
    assert any(complaint in each for each in found), found


def test_a_refusal_is_of_the_clients_dialect_and_holds_no_answer() -> None:
    error = b'{"error":{"message":"broke off","type":"server_error","code":null}}'
    assert not list(faults_of(PLAN, seen(error, status=502)))
    assert list(faults_of(PLAN, seen(b'{"error":{"message":"said y0 "}}', status=502)))
    assert list(faults_of(PLAN, seen(b"<html>", status=502)))
    healthy = replace(PLAN, faults={place: row[-1:] for place, row in PLAN.faults.items()})
    assert any("well" in each for each in faults_of(healthy, seen(error, status=500)))


def test_only_a_whole_answer_counts_as_served() -> None:
    assert is_served(PLAN, seen(GOOD))
    assert not is_served(PLAN, seen(delta("y0 ") + ERROR))


def test_a_number_draws_the_same_schedule_again() -> None:
    assert schedule(7, 11) == schedule(7, 11)
    assert len({repr(schedule(7, number).faults) for number in range(50)}) > 40


@pytest.mark.spec("DSP-3")
async def test_what_is_left_open_is_named() -> None:
    async with FakeUpstream() as fake, aiohttp.ClientSession() as session:
        fake.script(Fault(delay=30))
        url = f"{fake.base_url}/v1/chat/completions"
        asking = asyncio.create_task(session.post(url, data=b'{"model":"schedule-7-"}'))
        await fake.wait_until(lambda: bool(fake.requests))
        (request,) = await left_open(fake, 0.05)
        found = MARK.search(request.body)
        assert found is not None
        assert int(found[1]) == 7
        asking.cancel()
        await asyncio.wait((asking,))
        assert not await left_open(fake)
