from __future__ import annotations

from dataclasses import replace

import pytest

from services.domain.vocab import WireFamily
from services.handover.model import (
    BindingRef,
    CallEnd,
    Context,
    Limits,
    Outcome,
    Permit,
    Question,
    Result,
    Scope,
    Sealed,
    Summarizer,
    SummaryKind,
)
from services.handover.server.summaries import Summaries
from services.handover.server.writing import Writers
from tests.fakes.clock import FakeClock
from tests.fakes.summarizer import FakeModels
from tests.unit.handover.conversations import (
    ANTHROPIC,
    CHAT,
    assistant,
    body,
    tool_loop,
    user,
)

SMALL = Summarizer(BindingRef("m-small", "p1"), 200_000)
OTHER = Summarizer(BindingRef("m-other", "p2"), 200_000)
CONTEXT = Context("a-1", "00", "i", Sealed(b""), Sealed(b""), "e", "c", "v")


def question(family: WireFamily = ANTHROPIC, *summarizers: Summarizer) -> Question:
    return Question(
        context=CONTEXT,
        family=family,
        body=body(tool_loop(family)),
        path_model="",
        is_history_trimmed=False,
        kind=SummaryKind.SWITCH,
        to_binding=BindingRef("m-next", "p1"),
        permit=Permit(),
        scope=Scope.DEPLOYMENT,
        summarizers=summarizers or (SMALL,),
        max_summary_tokens=0,
        first_attempt_number=1,
    )


async def made(
    asked: Question,
    models: FakeModels | None = None,
    *,
    left_s: float | None = 8.0,
    limits: Limits | None = None,
    window: int = 0,
) -> Result:
    clock = FakeClock()
    writers = Writers(models or FakeModels(), clock)
    summaries = Summaries(writers, limits or Limits(8.0, 800), clock, lambda _: window)
    return await summaries.make(asked, left_s)


@pytest.mark.parametrize("family", [ANTHROPIC, CHAT])
async def test_a_summary_comes_with_what_it_cost_and_what_is_worth_keeping(
    family: WireFamily,
) -> None:
    models = FakeModels()
    result = await made(question(family), models)
    assert result.outcome is Outcome.SUMMARIZED
    assert result.rewritten is not None
    assert b"the summary" in result.rewritten.body
    assert result.rewritten.overflow_tokens < 1000
    assert result.summary_tokens == len("the summary") // 4
    assert [row.number for row in result.attempts] == [1]
    assert result.stored is not None
    assert result.stored.message_count == 4
    assert result.stored.summarizer == SMALL.binding
    assert result.stored.expire_unix_s == FakeClock().now_unix_s() + 24 * 3600


@pytest.mark.spec("HND-29")
async def test_a_stored_summary_is_reused_without_a_call() -> None:
    first = await made(question())
    assert first.stored is not None
    longer = body([*tool_loop(ANTHROPIC), assistant("ok"), user("next")])
    models = FakeModels()
    again = await made(replace(question(), body=longer, stored=first.stored), models)
    assert again.outcome is Outcome.REUSED
    assert (again.attempts, again.stored, models.asked) == ((), None, [])
    assert again.rewritten is not None
    assert b'"next"' in again.rewritten.body


async def test_a_stored_summary_that_does_not_fit_the_next_window_is_made_anew() -> None:
    first = await made(question())
    asked = replace(question(), stored=first.stored)
    assert (await made(asked, window=10)).outcome is Outcome.SUMMARIZED
    assert (await made(asked, window=10_000)).outcome is Outcome.REUSED


async def test_a_stored_summary_and_nobody_named_asks_for_reuse_alone() -> None:
    first = await made(question())
    assert first.stored is not None
    limits = Limits(8.0, 800, default=SMALL)
    asked = replace(question(), summarizers=(), stored=first.stored)
    assert (await made(asked, limits=limits)).outcome is Outcome.REUSED
    stale = replace(asked, stored=replace(first.stored, prefix_digest=b""))
    models = FakeModels()
    assert (await made(stale, models, limits=limits)).outcome is Outcome.NOT_CONFIGURED
    assert models.asked == []


@pytest.mark.spec("HND-3", "HND-13")
async def test_without_a_summariser_the_history_is_kept() -> None:
    asked = replace(question(), summarizers=())
    assert await made(asked) == Result(Outcome.NOT_CONFIGURED)
    models = FakeModels()
    limits = Limits(8.0, 800, default=OTHER)
    assert (await made(asked, models, limits=limits)).outcome is Outcome.SUMMARIZED
    assert models.asked[0].summarizer is OTHER


@pytest.mark.spec("HND-15", "HND-27")
@pytest.mark.parametrize(
    ("step", "outcome"),
    [
        (CallEnd.REFUSED, Outcome.UPSTREAM_FAILED),
        (CallEnd.LATE, Outcome.TIMEOUT),
        (CallEnd.UNREACHABLE, Outcome.FAILED),
        (" \n ", Outcome.EMPTY),
    ],
)
async def test_every_failure_keeps_the_history_and_tells_what_it_cost(
    step: str | CallEnd, outcome: Outcome
) -> None:
    result = await made(question(), FakeModels([step]))
    assert result.outcome is outcome
    assert result.rewritten is None
    assert result.stored is None
    assert len(result.attempts) == 1


@pytest.mark.spec("HND-15", "HND-27")
@pytest.mark.parametrize("family", [ANTHROPIC, CHAT])
async def test_a_summary_as_long_as_what_it_stands_for_keeps_the_history(
    family: WireFamily,
) -> None:
    asked = question(family)
    result = await made(asked, FakeModels(["s" * len(asked.body)]))
    assert result == Result(Outcome.UPSTREAM_FAILED, result.attempts)
    assert len(result.attempts) == 1


async def test_the_next_summariser_is_asked_only_after_a_refusal() -> None:
    models = FakeModels([CallEnd.REFUSED, "S"])
    result = await made(replace(question(ANTHROPIC, SMALL, OTHER), first_attempt_number=3), models)
    assert result.outcome is Outcome.SUMMARIZED
    assert [call.first_attempt_number for call in models.asked] == [3, 4]
    assert [row.number for row in result.attempts] == [3, 4]
    for step in (CallEnd.LATE, CallEnd.UNREACHABLE, ""):
        models = FakeModels([step, "S"])
        await made(question(ANTHROPIC, SMALL, OTHER), models)
        assert len(models.asked) == 1


@pytest.mark.spec("HND-14")
@pytest.mark.parametrize(
    ("left_s", "budget_s"), [(None, 8.0), (600.0, 8.0), (5.0, 4.9), (1.2, 1.1)]
)
async def test_the_time_limit_can_only_be_shortened(left_s: float | None, budget_s: float) -> None:
    models = FakeModels()
    await made(question(), models, left_s=left_s)
    assert models.asked[0].budget_s == pytest.approx(budget_s)


@pytest.mark.spec("HND-14")
async def test_with_less_than_a_second_left_nothing_is_started() -> None:
    models = FakeModels()
    assert await made(question(), models, left_s=0.99) == Result(Outcome.TIMEOUT)
    assert models.asked == []


@pytest.mark.spec("HND-31")
async def test_of_a_history_that_its_client_cut_a_summary_may_take_as_long_as_a_compactions() -> (
    None
):
    models = FakeModels()
    asked = replace(question(), kind=SummaryKind.CLIENT_TRIM)
    await made(asked, models, left_s=None)
    assert models.asked[0].budget_s == 90.0


async def test_a_short_limit_of_ones_own_is_a_limit_and_no_refusal() -> None:
    models = FakeModels([CallEnd.REFUSED])
    asked = question(ANTHROPIC, SMALL, OTHER)
    result = await made(asked, models, limits=Limits(0.5, 800))
    assert result.outcome is Outcome.UPSTREAM_FAILED
    assert [call.budget_s for call in models.asked] == [0.5]


@pytest.mark.spec("HND-14")
@pytest.mark.parametrize(("told", "cap"), [(0, 800), (200, 200), (4000, 800)])
async def test_the_token_limit_can_only_be_lowered(told: int, cap: int) -> None:
    models = FakeModels()
    await made(replace(question(), max_summary_tokens=told), models)
    assert f'"max_tokens":{cap},'.encode() in models.asked[0].body


async def test_a_summariser_that_may_not_or_cannot_is_not_asked() -> None:
    models = FakeModels()
    barred = replace(question(), permit=Permit(excluded_models=frozenset({"m-small"})))
    assert await made(barred, models) == Result(Outcome.NO_MODEL)
    small = replace(question(), summarizers=(replace(SMALL, window_tokens=5_000),))
    assert await made(small, models) == Result(Outcome.NO_MODEL)
    tenant = replace(question(), scope=Scope.TENANT)
    assert await made(tenant, models) == Result(Outcome.TENANT_BOUNDARY)
    assert models.asked == []


@pytest.mark.spec("HND-27")
@pytest.mark.parametrize(
    ("family", "raw"),
    [
        (ANTHROPIC, b"{"),
        (
            ANTHROPIC,
            body([user("x" * 20_000), assistant([{"type": "text", "text": 1}]), user("y")]),
        ),
        (WireFamily.GEMINI, b'{"contents":[]}'),
        (WireFamily.OPENAI_RESPONSES, b'{"input":[]}'),
    ],
)
async def test_a_body_that_cannot_be_read_is_kept(family: WireFamily, raw: bytes) -> None:
    asked = replace(question(), family=family, body=raw)
    assert await made(asked) == Result(Outcome.FAILED)


@pytest.mark.spec("HND-27")
async def test_what_was_paid_for_is_told_even_when_the_new_body_cannot_be_read() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "QQ"}
    picture = {"type": "image", "source": source}
    messages = [user("x" * 20_000), assistant("ok"), user([picture])]
    result = await made(replace(question(), body=body(messages, tools=5)))
    assert result.outcome is Outcome.FAILED
    assert result.rewritten is None
    assert len(result.attempts) == 1
