"""Faults of providers, through the whole product: all dialects, streamed and not.

Every client gets a whole answer from somebody, or, once output went out, one clean error; after
that everything is healthy, nothing is left open, and the ledger tells who served. The dialects are
asked side by side: they share no model and no provider.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e import faults
from tests.e2e.faults import FAMILIES, WORDS, Stand, model, provider, read
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
    Case("s23", Fault(error_first=True, error_type="overloaded_error"), is_of_streams=True),
    Case("gone", Fault(status=404), most_sends=1),
    Case("unpaid", Fault(status=402), most_sends=1),
    Case("empty", Fault(body=b"", content_type="text/event-stream"), is_of_streams=True),
    Case("schema", Fault(status=400, message="invalid tool schema"), most_sends=1),
)
BY_NAME = {case.name: case for case in CASES}
FLAPPING = ("f15-stream", "f15-whole")
FAULTS_IN_A_ROW = 3
"""After so many a model at a provider counts as down."""
FIRST_PROBE_SECONDS = 5.5
"""So long after the last of them it has been due to be probed."""
MORE = (*FLAPPING, "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f14-late", "usage")


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
    await faults.audit(stand)


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


@PLAYED
@pytest.mark.spec("DSP-40", "DSP-42", "DSP-137", "DSP-139", "DSP-130", "DSP-131", "DSP-132")
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

    await faults.in_each(stand, ask, is_stream=is_stream)


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

    await faults.in_each(stand, ask, is_stream=is_stream)


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

    await faults.in_each(stand, ask, is_stream=is_stream)


def flapping(*, is_stream: bool) -> str:
    """Return the scenario of a provider that is down for a while."""
    return FLAPPING[0] if is_stream else FLAPPING[1]


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

    await faults.in_each(stand, ask, is_stream=is_stream)


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

    await faults.in_each(stand, ask, is_stream=True)


@INSIDE
async def test_a_whole_answer_that_breaks_is_asked_for_elsewhere(
    stand: Stand, name: str, fault: Fault
) -> None:
    stand.script(name, fault, 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("duo", name, family), is_stream=False)
        assert read(family, answer, is_stream=False).text == WORDS
        assert answer.headers["x-router-provider"] == provider("backup", family)

    await faults.in_each(stand, ask, is_stream=False)


async def test_an_event_that_is_no_json_ends_no_answer(stand: Stand) -> None:
    stand.script("f10", Fault(bad_json=True), 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("lone", "f10", family), is_stream=True)
        assert answer.status_code == 200
        assert read(family, answer, is_stream=True).is_ended

    await faults.in_each(stand, ask, is_stream=True)


async def test_a_whole_answer_that_is_no_json_is_asked_for_elsewhere(stand: Stand) -> None:
    stand.script("f10", Fault(bad_json=True), 1)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("duo", "f10", family), is_stream=False)
        assert read(family, answer, is_stream=False).text == WORDS
        assert answer.headers["x-router-provider"] == provider("backup", family)

    await faults.in_each(stand, ask, is_stream=False)


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
@pytest.mark.parametrize(
    ("name", "cut_after", "is_stream"),
    [("f14", 1, True), ("f14-late", 6, True), ("f14", 1, False)],
)
async def test_a_rescue_target_that_refuses_prefill_is_never_the_final_error(
    stand: Stand, name: str, cut_after: int, is_stream: bool
) -> None:
    """F14: the answer is cut, and whoever is asked instead takes no prefill."""
    stand.script(name, Fault(cut_after=cut_after, chunks=12), ALWAYS)
    refusal = Fault(status=400, message="assistant prefill is not supported")
    stand.script("backup", refusal, ALWAYS)

    async def ask(family: WireFamily) -> None:
        answer = await stand.ask(family, model("solo", name, family), is_stream=is_stream)
        assert "prefill" not in answer.text
        is_begun = answer.status_code == 200
        said = read(family, answer, is_stream=is_stream) if is_begun else None
        assert answer.status_code == 502 if said is None else said.is_failed
        assert said is None or (is_stream and not stand.sends("backup", family))

    await faults.in_each(stand, ask, is_stream=is_stream)


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

    await faults.in_each(stand, ask, is_stream=is_stream)


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

    await faults.in_each(stand, ask, is_stream=is_stream)


async def test_a_provider_that_is_down_is_left_alone_and_used_again_soon(stand: Stand) -> None:
    """F15, on short terms: streams and whole answers of every dialect go through it at once."""
    cells = [(family, is_stream) for family in FAMILIES for is_stream in (True, False)]

    async def asked(family: WireFamily, times: int, *, is_stream: bool) -> list[str]:
        name = model("duo", flapping(is_stream=is_stream), family)
        answers = [await stand.ask(family, name, is_stream=is_stream) for _ in range(times)]
        assert {read(family, each, is_stream=is_stream).text for each in answers} == {WORDS}
        return [each.headers["x-router-provider"] for each in answers]

    async def all_asked(times: int) -> list[list[str]]:
        each = [asked(family, times, is_stream=is_stream) for family, is_stream in cells]
        return await asyncio.gather(*each)

    for name in FLAPPING:
        stand.script(name, Fault(status=503), ALWAYS)
    for (family, _), served in zip(cells, await all_asked(8), strict=True):
        assert set(served) == {provider("backup", family)}
    probes = [len(stand.sends(name, family)) for name in FLAPPING for family in FAMILIES]
    assert all(1 <= each <= FAULTS_IN_A_ROW + 1 for each in probes)
    stand.failing.rules.clear()
    await asyncio.sleep(FIRST_PROBE_SECONDS)
    for (family, is_stream), served in zip(cells, await all_asked(2), strict=True):
        assert served == [provider(flapping(is_stream=is_stream), family)] * 2
    await stand.seen_off()


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

    await faults.in_each(stand, ask, is_stream=is_stream)
    rows = await faults.rows_of(stand, set(actions.values()), 2 * len(FAMILIES))
    for family, action_id in actions.items():
        failed, served = rows[action_id, 1], rows[action_id, 2]
        assert (failed.outcome, failed.charged_micros) == ("failed_no_usage", 0)
        assert failed.provider == provider("usage", family)
        assert (served.outcome, served.provider) == ("served", provider("backup", family))
        assert (served.model, served.cause) == (model("duo", "usage", family), "hop")
        assert served.input_rate == 2_000_000
        assert served.is_charged
