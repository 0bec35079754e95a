"""Faults of providers, through the whole product: all dialects, streamed and not.

Every client gets a whole answer from somebody, or, once output went out, one clean error; after
that everything is healthy, nothing is left open, and the ledger tells who served. The dialects are
asked side by side: they share no model and no provider.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

import pytest
import pytest_asyncio

from gateway.adapters.ledger import SqlLedgerStore
from gateway.ledger.settlement import recomputed
from gateway.model.record import LedgerRow
from services.domain.vocab import WireFamily
from tests.e2e import faults
from tests.e2e.faults import FAMILIES, WORDS, Stand, model, provider, provider_of, read
from tests.fakes.upstream import Fault

ALWAYS = None
STREAMED = pytest.mark.parametrize("is_stream", [True, False], ids=["stream", "whole"])
pytestmark = pytest.mark.asyncio(loop_scope="module")


@dataclass(frozen=True, slots=True)
class Case:
    """One fault of the first provider."""

    name: str
    fault: Fault
    times: int | None = ALWAYS
    is_retried: bool = False
    """Whether the first provider answers once the fault is over, where it is alone."""
    most_sends: int = 3
    """To the first provider, where it is alone."""
    is_of_streams: bool = False


CASES = (
    Case("f1", Fault(status=429, retry_after=1), times=1, is_retried=True, most_sends=2),
    Case("f2", Fault(status=429)),
    Case("f3", Fault(status=500), times=1, is_retried=True, most_sends=2),
    Case("f4", Fault(status=503)),
    Case("f5", Fault(drop=True)),
    Case("f6", Fault(delay=30)),
    Case("overload", Fault(status=529)),
    Case("gone", Fault(status=404), most_sends=1),
    Case("unpaid", Fault(status=402), most_sends=1),
    Case("empty", Fault(body=b"", content_type="text/event-stream"), is_of_streams=True),
    Case("schema", Fault(status=400, message="invalid tool schema"), most_sends=1),
)
BY_NAME = {case.name: case for case in CASES}
MORE = ("f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f14-late", "usage")


NO_SENTINEL = b"".join(
    b"data: %s\n\n" % chunk
    for chunk in (
        b'{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":'
        b'"assistant","content":"alpha beta gamma delta "},"finish_reason":null}]}',
        b'{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},'
        b'"finish_reason":"stop"}]}',
        b'{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":11,'
        b'"completion_tokens":4,"total_tokens":15}}',
    )
)
"""A whole chat stream, but for ``[DONE]``."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stand(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stand]:
    home = tmp_path_factory.mktemp("home")
    async with faults.standing(home, (*BY_NAME, *MORE)) as standing:
        yield standing


@pytest_asyncio.fixture(autouse=True, loop_scope="module")
async def audited(stand: Stand) -> AsyncIterator[None]:
    """Begin anew; after each test the ledger must equal what was served, no more and no less."""
    stand.clear()
    yield
    sends = stand.all_sends
    actions = {answer.headers["x-router-action-id"]: answer for answer in stand.answers}
    rows = await rows_of(stand, set(actions), len(sends))
    assert Counter(row.provider for row in rows.values()) == Counter(map(provider_of, sends))
    assert all(recomputed(row) == (row.cost_micros, row.charged_micros) for row in rows.values())
    for action_id, answer in actions.items():
        own = [row for row in rows.values() if row.action_id == action_id]
        told = [row for row in own if row.outcome in ("served", "broken")]
        unpaid = [row for row in own if row not in told]
        assert not any(row.charged_micros for row in unpaid)
        if answer.status_code != 200:
            assert not told
            continue
        (row,) = told
        assert row.provider == answer.headers["x-router-provider"]
        assert row.model == answer.headers["x-router-model"]
        assert row.is_charged
        if row.outcome == "served":
            assert (row.source, row.fresh_input_tokens, row.output_tokens) == ("reported", 11, 4)


async def in_each(
    stand: Stand, ask: Callable[[WireFamily], Awaitable[None]], *, is_stream: bool
) -> None:
    """Ask in every dialect at once; afterwards all must be healthy and nothing left open."""
    async with asyncio.TaskGroup() as group:
        for family in FAMILIES:
            group.create_task(_awaited(ask(family)))
    stand.failing.rules.clear()
    stand.backup.rules.clear()
    for family in FAMILIES:
        answer = await stand.ask(family, f"spare-{family.value}", is_stream=is_stream)
        assert read(family, answer, is_stream=is_stream).text == WORDS
    await stand.seen_off()


PLAYED = pytest.mark.parametrize(
    ("case", "is_stream"),
    [
        pytest.param(case, is_stream, id=f"{case.name}-{'stream' if is_stream else 'whole'}")
        for case in CASES
        for is_stream in (True, False)
        if is_stream or not case.is_of_streams
    ],
)
"""Each fault on streams, and on whole answers where they can have it."""


async def _awaited(work: Awaitable[None]) -> None:
    await work


@PLAYED
@pytest.mark.spec("DSP-40", "DSP-42", "DSP-137", "DSP-139")
async def test_with_a_second_binding_the_answer_is_whole(
    stand: Stand, case: Case, is_stream: bool
) -> None:
    stand.script(case.name, case.fault, case.times)

    async def ask(family: WireFamily) -> None:
        began_s = time.monotonic()
        answer = await stand.ask(family, model("duo", case.name, family), is_stream=is_stream)
        assert time.monotonic() - began_s < 5
        said = read(family, answer, is_stream=is_stream)
        assert (answer.status_code, said.text, said.is_failed) == (200, WORDS, False)
        assert len(stand.sends(case.name, family)) <= 1
        assert len(stand.sends("backup", family)) == 1
        assert answer.headers["x-router-provider"] == provider("backup", family)
        assert answer.headers["x-router-fallback-attempt"] == "1"
        assert answer.headers["x-router-fallback-from"] == provider(case.name, family)

    await in_each(stand, ask, is_stream=is_stream)


@PLAYED
@pytest.mark.spec("DSP-30", "DSP-110", "DSP-113")
async def test_with_a_sibling_the_answer_is_whole(
    stand: Stand, case: Case, is_stream: bool
) -> None:
    stand.script(case.name, case.fault, case.times)

    async def ask(family: WireFamily) -> None:
        began_s = time.monotonic()
        answer = await stand.ask(family, model("solo", case.name, family), is_stream=is_stream)
        assert time.monotonic() - began_s < 8
        said = read(family, answer, is_stream=is_stream)
        assert (answer.status_code, said.text, said.is_failed) == (200, WORDS, False)
        sends = stand.sends(case.name, family)
        assert len(sends) <= case.most_sends
        assert sum(request.started - sends[0].started <= 3 for request in sends) <= 4
        if not case.is_retried or answer.headers["x-router-provider"] == provider("backup", family):
            assert answer.headers["x-router-model"] == f"spare-{family.value}"
            assert answer.headers["x-router-decision"] == "sibling_failover"
            assert "x-router-fallback-attempt" not in answer.headers

    await in_each(stand, ask, is_stream=is_stream)


@STREAMED
@pytest.mark.parametrize(
    ("name", "status"), [("f4", 503), ("f5", 502), ("f6", 504), ("gone", 404), ("schema", 400)]
)
async def test_with_nowhere_to_go_the_error_is_the_dialects_own(
    stand: Stand, name: str, status: int, is_stream: bool
) -> None:
    stand.script(name, BY_NAME[name].fault, ALWAYS)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("lone", name, family), is_stream=is_stream)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"].startswith("application/json")
        assert "error" in answer.json()
        assert not stand.sends("backup", family)

    await in_each(stand, ask, is_stream=is_stream)


# ------------------------------------------------------------------------- faults inside answers


@STREAMED
async def test_a_late_first_token_is_waited_for_within_its_limit(
    stand: Stand, is_stream: bool
) -> None:
    stand.script("f7", Fault(first_delay=0.4), 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("duo", "f7", family), is_stream=is_stream)
        assert read(family, answer, is_stream=is_stream).text == WORDS
        assert answer.headers["x-router-provider"] == provider("f7", family)

    await in_each(stand, ask, is_stream=is_stream)


INSIDE = pytest.mark.parametrize(
    ("name", "fault"),
    [("f8", Fault(cut_after=6, chunks=12)), ("f9", Fault(stall_after=6, stall=30, chunks=12))],
)


@INSIDE
@pytest.mark.spec("DSP-126")
async def test_a_stream_that_breaks_is_never_a_clean_end(
    stand: Stand, name: str, fault: Fault
) -> None:
    stand.script(name, fault, 1)

    async def ask(family: WireFamily) -> None:
        began_s = time.monotonic()
        answer = await stand.ask(family, model("duo", name, family), is_stream=True)
        assert time.monotonic() - began_s < 3
        said = read(family, answer, is_stream=True)
        assert said.text
        assert (said.is_ended, said.is_failed) == (False, True)
        assert not stand.sends("backup", family)

    await in_each(stand, ask, is_stream=True)


@INSIDE
async def test_a_whole_answer_that_breaks_is_asked_for_elsewhere(
    stand: Stand, name: str, fault: Fault
) -> None:
    stand.script(name, fault, 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("duo", name, family), is_stream=False)
        assert read(family, answer, is_stream=False).text == WORDS
        assert answer.headers["x-router-provider"] == provider("backup", family)

    await in_each(stand, ask, is_stream=False)


async def test_an_event_that_is_no_json_ends_no_answer(stand: Stand) -> None:
    stand.script("f10", Fault(bad_json=True), 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("lone", "f10", family), is_stream=True)
        assert answer.status_code == 200
        assert read(family, answer, is_stream=True).is_ended

    await in_each(stand, ask, is_stream=True)


@pytest.mark.spec("DSP-126")
async def test_a_chat_stream_that_ends_after_its_reason_needs_no_sentinel(stand: Stand) -> None:
    """F11."""
    family = WireFamily.OPENAI_CHAT
    stand.script("f11", Fault(body=NO_SENTINEL, content_type="text/event-stream"), 1, [family])
    began_s = time.monotonic()
    answer = await stand.ask(family, model("lone", "f11", family), is_stream=True)
    assert time.monotonic() - began_s < 2
    said = read(family, answer, is_stream=True)
    assert (said.text, said.is_failed) == (WORDS, False)


@pytest.mark.spec("DSP-53")
@pytest.mark.parametrize(("name", "cut_after"), [("f14", 1), ("f14-late", 6)])
async def test_a_rescue_target_that_refuses_prefill_is_never_the_final_error(
    stand: Stand, name: str, cut_after: int
) -> None:
    """F14: the stream is cut, and whoever is asked instead takes no prefill."""
    stand.script(name, Fault(cut_after=cut_after, chunks=12), ALWAYS)
    refusal = Fault(status=400, message="assistant prefill is not supported")
    stand.script("backup", refusal, ALWAYS)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("solo", name, family), is_stream=True)
        assert "prefill" not in answer.text
        said = read(family, answer, is_stream=True) if answer.status_code == 200 else None
        assert answer.status_code == 502 if said is None else said.is_failed
        assert said is None or not stand.sends("backup", family)

    await in_each(stand, ask, is_stream=True)


@STREAMED
async def test_a_context_refusal_is_asked_once_and_a_larger_window_serves(
    stand: Stand, is_stream: bool
) -> None:
    stand.script("f12", Fault(status=400, message="prompt is too long"), ALWAYS)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("solo", "f12", family), is_stream=is_stream)
        assert read(family, answer, is_stream=is_stream).text == WORDS
        assert answer.headers["x-router-decision"] == "larger_window"
        assert len(stand.sends("f12", family)) == 1
        refused = await stand.ask(family, model("duo", "f12", family), is_stream=is_stream)
        assert refused.status_code in (400, 413)
        assert len(stand.sends("f12", family)) == 2
        assert len(stand.sends("backup", family)) == 1

    await in_each(stand, ask, is_stream=is_stream)


@STREAMED
@pytest.mark.parametrize("kind", ["duo", "solo"])
async def test_a_content_refusal_reaches_the_client_and_is_not_routed_around(
    stand: Stand, kind: str, is_stream: bool
) -> None:
    fault = Fault(status=400, message="against our content policy: chapter nine")
    stand.script("f13", fault, ALWAYS)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model(kind, "f13", family), is_stream=is_stream)
        assert answer.status_code == 400
        assert "chapter nine" in answer.text
        assert len(stand.sends("f13", family)) == 1
        assert not stand.sends("backup", family)

    await in_each(stand, ask, is_stream=is_stream)


@STREAMED
@pytest.mark.spec("DSP-54", "DSP-235")
async def test_the_ledger_names_who_served_and_bills_nobody_else(
    stand: Stand, is_stream: bool
) -> None:
    stand.script("usage", Fault(status=503), ALWAYS)

    actions: dict[WireFamily, str] = {}

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("duo", "usage", family), is_stream=is_stream)
        actions[family] = answer.headers["x-router-action-id"]

    await in_each(stand, ask, is_stream=is_stream)
    rows = await rows_of(stand, set(actions.values()), 2 * len(FAMILIES))
    for family, action_id in actions.items():
        failed, served = rows[action_id, 1], rows[action_id, 2]
        assert (failed.outcome, failed.charged_micros) == ("failed_no_usage", 0)
        assert failed.provider == provider("usage", family)
        assert (served.outcome, served.provider) == ("served", provider("backup", family))
        assert (served.model, served.cause) == (model("duo", "usage", family), "hop")
        assert served.input_rate == 2_000_000
        assert served.is_charged


async def rows_of(
    stand: Stand, action_ids: set[str], count: int
) -> dict[tuple[str, int], LedgerRow]:
    """Return the rows of actions, by action and attempt, once there are so many."""
    store = SqlLedgerStore(f"sqlite:///{stand.home}/gateway.db")
    found: dict[tuple[str, int], LedgerRow] = {}
    try:
        async with asyncio.timeout(15):
            cursor = 0
            while len(found) < count:
                page = await store.page(cursor, 1000)
                found |= {
                    (row.action_id, row.attempt): row
                    for _, row in page
                    if row.action_id in action_ids
                }
                cursor = page[-1][0] if page else cursor
                await asyncio.sleep(0.05)
    finally:
        await store.aclose()
    return found
