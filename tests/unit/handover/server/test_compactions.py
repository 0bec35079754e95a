"""The cascade of a compaction: what is cleared, summarised and trimmed, and when."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.sessions.history import MAX_SUMMARY_BYTES
from services.domain.vocab import CredentialOwner, WireFamily
from services.handover.codec.compactions import compaction_response
from services.handover.model import (
    BindingRef,
    CallEnd,
    Context,
    Outcome,
    Permit,
    Scope,
    Sealed,
    Summarizer,
    SummaryKind,
)
from services.handover.model.compaction import (
    ClientBudget,
    CompactionLimits,
    CompactionOutcome,
    CompactionQuestion,
    CompactionResult,
)
from services.handover.policy.answer import SUMMARY_BYTES
from services.handover.policy.results import PLACEHOLDER
from services.handover.policy.rewrite import MARKER
from services.handover.policy.structured import QUOTES_HEADING
from services.handover.server.compactions import Compactions
from services.handover.server.writing import Writers
from tests.fakes.clock import FakeClock
from tests.fakes.summarizer import FakeModels
from tests.unit.handover.talks import (
    ANTHROPIC,
    CHAT,
    GEMINI,
    RESPONSES,
    Json,
    agent_talk,
    body,
    call_ids,
    messages_of,
    plain_talk,
    result_ids,
    tool_round,
    user,
)

FAMILIES = [ANTHROPIC, CHAT, RESPONSES, GEMINI]
CONTEXT = Context("a-1", "00", "i", Sealed(b""), Sealed(b""), "e", "c", "v")
WRITER = Summarizer(BindingRef("claude-sonnet-5", "anthropic"), 1_000_000)
UNKNOWN = ClientBudget(
    is_harness_default=False, compact_threshold_tokens=0, is_deferral_allowed=False
)
OUTPUT = "a line of a file\n" * 100
"""About 425 tokens."""


def limits(window: int, *, ratio: float = 0.85, reserve: int = 0) -> CompactionLimits:
    return CompactionLimits(window, ratio, reserve)


def question(
    family: WireFamily, messages: list[Json], within: CompactionLimits
) -> CompactionQuestion:
    return CompactionQuestion(
        context=CONTEXT,
        family=family,
        body=body(family, messages),
        path_model="",
        is_history_trimmed=False,
        permit=Permit(),
        limits=within,
        budget=UNKNOWN,
        summarizers=(WRITER,),
        scope=Scope.DEPLOYMENT,
        is_authoritative_policy=False,
        is_after_overflow=False,
        first_attempt_number=1,
    )


async def made(
    asked: CompactionQuestion, models: FakeModels | None = None, *, left_s: float | None = 100.0
) -> CompactionResult:
    clock = FakeClock()
    return await Compactions(Writers(models or FakeModels(), clock), 90.0, clock).make(
        asked, left_s
    )


def tokens(family: WireFamily, messages: list[Json]) -> int:
    return len(body(family, messages)) // 4


def cleared_count(family: WireFamily, result: CompactionResult) -> int:
    return result.draft.body.count(PLACEHOLDER.encode())


@pytest.mark.spec("HND-45")
@pytest.mark.parametrize("family", FAMILIES)
async def test_below_the_trigger_nothing_is_touched(family: WireFamily) -> None:
    messages = plain_talk(family, 10, "word " * 50)
    size, models = tokens(family, messages), FakeModels()
    window = int(size / 0.85) + 10
    result = await made(question(family, messages, limits(window)), models)
    assert result.outcome is CompactionOutcome.NOT_ENGAGED
    assert not models.asked
    at_trigger = await made(question(family, messages, limits(int(size / 0.85))), models)
    assert at_trigger.outcome is CompactionOutcome.APPLIED


@pytest.mark.spec("HND-41")
async def test_room_for_the_answer_counts() -> None:
    messages = plain_talk(CHAT, 10, "word " * 50)
    size = tokens(CHAT, messages)
    roomy = limits(2 * size, reserve=0)
    assert (await made(question(CHAT, messages, roomy))).outcome is CompactionOutcome.NOT_ENGAGED
    narrow = limits(2 * size, reserve=size)
    assert (await made(question(CHAT, messages, narrow))).outcome is CompactionOutcome.APPLIED


@pytest.mark.spec("HND-43", "HND-42")
@pytest.mark.parametrize("off", [limits(1000, ratio=0.0), limits(0)])
async def test_switched_off_or_without_a_window_nothing_is_touched(off: CompactionLimits) -> None:
    asked = question(CHAT, plain_talk(CHAT, 50, "word " * 50), off)
    assert (await made(asked)).outcome is CompactionOutcome.NOT_ENGAGED


@pytest.mark.spec("HND-50", "HND-51", "HND-84")
@pytest.mark.parametrize("family", FAMILIES)
async def test_old_outputs_are_cleared_and_nothing_else(family: WireFamily) -> None:
    messages, models = agent_talk(family, 20, OUTPUT), FakeModels()
    window = tokens(family, messages) * 3 // 4
    result = await made(question(family, messages, limits(window)), models)
    assert result.outcome is CompactionOutcome.APPLIED
    assert not models.asked
    assert result.draft.cleared_results == cleared_count(family, result) == 15
    after = messages_of(family, result.draft.body)
    assert len(after) == len(messages)
    kept = [(old, new) for old, new in zip(messages, after, strict=True) if old == new]
    assert len(kept) == len(messages) - 15
    assert [call_ids(family, m) for m in after] == [call_ids(family, m) for m in messages]
    assert [result_ids(family, m) for m in after] == [result_ids(family, m) for m in messages]
    assert after[-1] == messages[-1]
    assert b'"zz": 1.50, "tools": []' in result.draft.body


async def test_an_output_shorter_than_the_placeholder_stays() -> None:
    messages = [*agent_talk(CHAT, 10, "ok"), *agent_talk(CHAT, 12, OUTPUT)]
    window = tokens(CHAT, messages)
    result = await made(question(CHAT, messages, limits(window)))
    assert result.draft.cleared_results == 17
    assert cleared_count(CHAT, result) == 7


@pytest.mark.spec("HND-61")
async def test_the_boundary_of_cleared_outputs_moves_in_steps() -> None:
    messages = agent_talk(ANTHROPIC, 20, OUTPUT)
    window = tokens(ANTHROPIC, messages) * 11 // 10
    first = await made(question(ANTHROPIC, messages, limits(window)))
    assert first.checkpoint is not None
    assert first.draft.cleared_results == 15
    messages += tool_round(ANTHROPIC, ["next"], OUTPUT)
    later = replace(question(ANTHROPIC, messages, limits(window)), checkpoint=first.checkpoint)
    second = await made(later)
    assert second.draft.cleared_results == 15
    assert second.checkpoint is None
    start = first.draft.body.rindex(b"]")
    assert second.draft.body[: start - 2] == first.draft.body[: start - 2]
    # Much later the boundary moves on, all at once.
    messages += agent_talk(ANTHROPIC, 40, OUTPUT)[1:]
    third = await made(
        replace(question(ANTHROPIC, messages, limits(window)), checkpoint=first.checkpoint)
    )
    assert third.draft.cleared_results == 56
    assert third.checkpoint is not None


@pytest.mark.spec("HND-61")
async def test_for_a_few_outputs_more_the_boundary_does_not_move() -> None:
    messages = agent_talk(ANTHROPIC, 20, OUTPUT)
    window = tokens(ANTHROPIC, messages) * 11 // 10
    first = await made(question(ANTHROPIC, messages, limits(window)))
    messages += [m for n in range(3) for m in tool_round(ANTHROPIC, [f"n{n}"], OUTPUT * 5)]
    asked = replace(question(ANTHROPIC, messages, limits(window)), checkpoint=first.checkpoint)
    models = FakeModels()
    result = await made(asked, models)
    assert models.asked, "a summary makes more room"
    assert result.draft.cleared_results == 15


@pytest.mark.spec("HND-52", "HND-53", "HND-55", "HND-70", "HND-72")
@pytest.mark.parametrize("family", FAMILIES)
async def test_a_long_talk_is_summarised_but_for_its_end(family: WireFamily) -> None:
    messages = plain_talk(family, 20, "word " * 100)
    models = FakeModels(["It went well."])
    window = tokens(family, messages)
    result = await made(question(family, messages, limits(window)), models)
    assert result.outcome is CompactionOutcome.APPLIED
    assert result.summary_outcome is Outcome.SUMMARIZED
    assert result.draft.is_summarized
    assert len(result.attempts) == 1
    (call,) = models.asked
    assert call.kind is SummaryKind.COMPACTION
    asked = json.loads(call.body)
    assert asked["max_tokens"] == 4000
    assert asked["stream"] is False
    assert "tools" not in asked
    after = messages_of(family, result.draft.body)
    assert after[2:] == messages[-11:]
    summary = json.dumps(after[1])
    assert MARKER in summary
    assert "It went well." in summary
    assert "question 0: " in summary, "the user's words are there word for word"
    assert result.draft.tokens <= window


@pytest.mark.spec("HND-81", "HND-82", "HND-86")
@pytest.mark.parametrize("family", FAMILIES)
async def test_the_end_of_an_agents_loop_keeps_the_wish_that_it_serves(
    family: WireFamily,
) -> None:
    messages = agent_talk(family, 30, OUTPUT, batch=2)
    # Even with its old outputs cleared it is too long.
    window = int(tokens(family, messages) * 0.25)
    result = await made(question(family, messages, limits(window)))
    assert result.outcome is CompactionOutcome.APPLIED
    after = messages_of(family, result.draft.body)
    assert messages[0] in after, "what the person asked for"
    assert after[-1] == messages[-1]


@pytest.mark.spec("HND-52", "HND-56", "HND-60")
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("end", [CallEnd.REFUSED, CallEnd.LATE, CallEnd.UNREACHABLE, " "])
async def test_without_a_summary_the_end_of_the_talk_goes_on(
    family: WireFamily, end: CallEnd | str
) -> None:
    messages = plain_talk(family, 20, "word " * 100)
    window = tokens(family, messages) // 2
    result = await made(question(family, messages, limits(window)), FakeModels([end]))
    assert result.outcome is CompactionOutcome.APPLIED
    assert result.summary_outcome is not Outcome.SUMMARIZED
    assert result.attempts, "what was paid for is told"
    assert result.draft.trimmed_messages == 12
    assert messages_of(family, result.draft.body) == messages[-11:]


@pytest.mark.spec("HND-56")
async def test_trimming_goes_step_by_step_to_the_newest_message() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    kept = []
    for share in (0.4, 0.2, 0.1, 0.01):
        asked = replace(
            question(CHAT, messages, limits(int(tokens(CHAT, messages) * share))), summarizers=()
        )
        result = await made(asked)
        kept.append((result.draft.trimmed_messages, len(messages_of(CHAT, result.draft.body))))
    assert kept == [(12, 11), (6, 5), (3, 3), (1, 1)]


@pytest.mark.spec("HND-57", "HND-58")
@pytest.mark.parametrize("family", FAMILIES)
async def test_one_message_that_fits_no_window_is_told(family: WireFamily) -> None:
    messages = [user(family, "word " * 5000)]
    models = FakeModels()
    result = await made(question(family, messages, limits(1000)), models)
    assert result.outcome is CompactionOutcome.EXCEEDED
    assert not models.asked


async def test_what_fits_is_not_trimmed_where_nobody_writes_a_summary() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    asked = replace(question(CHAT, messages, limits(tokens(CHAT, messages) + 10)), summarizers=())
    result = await made(asked)
    assert result.outcome is CompactionOutcome.NOT_ENGAGED
    assert messages_of(CHAT, result.draft.body) == messages


@pytest.mark.spec("HND-54")
@pytest.mark.parametrize(("words", "room"), [(2000, 20), (100, 400)])
async def test_a_summary_that_makes_it_worse_is_undone(words: int, room: int) -> None:
    """The second one would fit the window."""
    short = plain_talk(CHAT, 8, "hi")
    messages = [*short[:-1], user(CHAT, "word " * 2000)]
    window = tokens(CHAT, messages) + room
    result = await made(question(CHAT, messages, limits(window)), FakeModels(["long " * words]))
    assert result.is_summary_reverted
    assert len(result.attempts) == 1, "it is billed all the same"
    assert messages_of(CHAT, result.draft.body) == messages


@pytest.mark.spec("HND-63", "HND-70")
async def test_the_longest_summary_with_the_most_of_the_users_words_can_be_kept() -> None:
    messages = plain_talk(CHAT, 40, "word " * 400)
    asked = question(CHAT, messages, limits(tokens(CHAT, messages)))
    result = await made(asked, FakeModels(["long " * 100_000]))
    kept = compaction_response(asked, replace(result, attempts=()), "v").checkpoint
    assert QUOTES_HEADING in kept.summary.text
    assert SUMMARY_BYTES < kept.ByteSize() <= MAX_SUMMARY_BYTES


@pytest.mark.spec("HND-63")
@pytest.mark.parametrize("family", FAMILIES)
async def test_a_kept_summary_is_used_again_while_it_fits(family: WireFamily) -> None:
    messages = plain_talk(family, 20, "word " * 100)
    within = limits(tokens(family, messages))
    first = await made(question(family, messages, within), FakeModels(["It went well."]))
    assert first.checkpoint is not None
    longer = [*messages, *plain_talk(family, 2, "word " * 100)]
    models = FakeModels(["Another."])
    asked = replace(question(family, longer, within), checkpoint=first.checkpoint)
    again = await made(asked, models)
    assert not models.asked
    assert again.draft.is_summarized
    assert again.checkpoint is None
    assert messages_of(family, again.draft.body)[2:] == longer[30:]
    # Other limits, another beginning and a client that cut its history make it of no use.
    other = [user(family, "something else"), *longer[1:]]
    for miss in (
        replace(asked, limits=limits(within.max_window_tokens - 1)),
        replace(asked, body=body(family, other)),
        replace(asked, is_history_trimmed=True),
    ):
        models.asked.clear()
        await made(miss, models)
        assert models.asked


@pytest.mark.spec("HND-63")
async def test_a_new_summary_goes_on_from_the_kept_one() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    within = limits(tokens(CHAT, messages))
    first = await made(question(CHAT, messages, within), FakeModels(["The first part."]))
    longer = [*messages, *plain_talk(CHAT, 18, "term " * 100)]
    models = FakeModels(["All of it."])
    asked = replace(question(CHAT, longer, within), checkpoint=first.checkpoint)
    second = await made(asked, models)
    (call,) = models.asked
    assert b"The first part." in call.body
    assert b"answer 3: word" not in call.body
    assert b"All of it." in second.draft.body


@pytest.mark.spec("HND-112")
async def test_a_client_that_will_compact_by_itself_is_waited_for() -> None:
    messages = plain_talk(ANTHROPIC, 20, "word " * 100)
    size = tokens(ANTHROPIC, messages)
    patient = ClientBudget(
        is_harness_default=True, compact_threshold_tokens=size, is_deferral_allowed=True
    )
    asked = replace(
        question(ANTHROPIC, messages, limits(size + 10)), budget=patient, summarizers=()
    )
    assert (await made(asked)).outcome is CompactionOutcome.DEFERRED
    for other in (
        replace(asked, limits=limits(size - 1)),
        replace(asked, is_after_overflow=True),
        replace(asked, budget=replace(patient, is_deferral_allowed=False)),
        replace(asked, budget=replace(patient, is_harness_default=False)),
        replace(asked, budget=replace(patient, compact_threshold_tokens=0)),
        replace(asked, budget=replace(patient, compact_threshold_tokens=size + 11)),
    ):
        assert (await made(other)).outcome is not CompactionOutcome.DEFERRED


@pytest.mark.spec("HND-52")
async def test_a_policy_that_decides_every_action_gets_no_summary() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    models = FakeModels()
    asked = replace(
        question(CHAT, messages, limits(tokens(CHAT, messages) // 2)),
        is_authoritative_policy=True,
    )
    result = await made(asked, models)
    assert not models.asked
    assert result.draft.trimmed_messages == 12


@pytest.mark.spec("HND-92", "HND-4")
async def test_who_is_too_small_or_outside_the_tenant_writes_no_summary() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    asked = question(CHAT, messages, limits(tokens(CHAT, messages)))
    small = replace(asked, summarizers=(replace(WRITER, window_tokens=12_000),))
    result = await made(small)
    assert result.summary_outcome is Outcome.NO_MODEL
    enabled = {"anthropic": frozenset({CredentialOwner.OPERATOR.value})}
    foreign = replace(asked, scope=Scope.CALLER, permit=Permit(providers=enabled))
    assert (await made(foreign)).summary_outcome is Outcome.TENANT_BOUNDARY


@pytest.mark.spec("HND-52")
async def test_outputs_that_no_summariser_can_read_are_left_out_of_the_transcript() -> None:
    messages = [*plain_talk(CHAT, 8, "word " * 20), *agent_talk(CHAT, 60, OUTPUT)]
    models = FakeModels()
    # Its window takes the transcript with cleared outputs only.
    narrow = replace(WRITER, window_tokens=12_000 + 8_000)
    asked = replace(
        question(CHAT, messages, limits(tokens(CHAT, messages) // 4)), summarizers=(narrow,)
    )
    result = await made(asked, models)
    (call,) = models.asked
    assert PLACEHOLDER.encode() in call.body
    assert result.draft.is_summarized


@pytest.mark.spec("HND-133", "HND-71")
async def test_without_time_no_summary_is_begun() -> None:
    messages = plain_talk(CHAT, 20, "word " * 100)
    models = FakeModels()
    asked = question(CHAT, messages, limits(tokens(CHAT, messages) // 2))
    result = await made(asked, models, left_s=1.0)
    assert not models.asked
    assert result.summary_outcome is Outcome.TIMEOUT
    assert result.draft.trimmed_messages == 12
    await made(asked, models, left_s=None)
    assert models.asked[0].budget_s == 90.0


@pytest.mark.spec("HND-62", "HND-84")
async def test_a_responses_conversation_is_cut_item_by_item() -> None:
    messages = agent_talk(RESPONSES, 30, OUTPUT, batch=2)
    window = int(tokens(RESPONSES, messages) * 0.15)
    result = await made(
        question(RESPONSES, messages, limits(window)), FakeModels([CallEnd.REFUSED])
    )
    after = messages_of(RESPONSES, result.draft.body)
    assert len(after) < len(messages)
    assert after[0] == messages[0]
    assert after[1]["type"] == "reasoning", "reasoning stays with the calls that it led to"
    assert after[1:] == messages[-len(after[1:]) :]


@pytest.mark.spec("HND-87")
async def test_cache_breakpoints_get_no_more_and_keep_their_order() -> None:
    def marked(message: Json, ttl: str) -> Json:
        mark = {"type": "ephemeral", "ttl": ttl}
        block = {"type": "text", "text": message["content"], "cache_control": mark}
        return {**message, "content": [block]}

    messages = plain_talk(ANTHROPIC, 20, "word " * 100)
    for at, ttl in ((0, "1h"), (36, "1h"), (38, "5m"), (40, "5m")):
        messages[at] = marked(messages[at], ttl)
    asked = question(ANTHROPIC, messages, limits(tokens(ANTHROPIC, messages)))
    for step in ("S", CallEnd.REFUSED):
        narrow = replace(asked, limits=limits(asked.limits.max_window_tokens // 2))
        result = await made(asked if step == "S" else narrow, FakeModels([step]))
        after = json.dumps(messages_of(ANTHROPIC, result.draft.body))
        assert re.findall(r'"ttl": "(\w+)"', after) == ["1h", "5m", "5m"]


async def test_a_conversation_that_is_no_list_is_left_alone_or_told_to_be_too_large() -> None:
    raw = b'{"model": "m", "input": "' + b"word " * 400 + b'"}'
    asked = replace(question(RESPONSES, [], limits(10_000)), body=raw)
    assert (await made(asked)).outcome is CompactionOutcome.NOT_ENGAGED
    small = replace(asked, limits=limits(100))
    assert (await made(small)).outcome is CompactionOutcome.EXCEEDED


@given(
    st.sampled_from([ANTHROPIC, CHAT, RESPONSES]),
    st.lists(
        st.one_of(
            st.tuples(st.just("talk"), st.integers(1, 2)),
            st.tuples(st.just("tools"), st.integers(1, 3)),
        ),
        min_size=1,
        max_size=25,
    ),
    st.floats(0.02, 0.9),
    st.sampled_from(["S", CallEnd.REFUSED]),
)
@pytest.mark.spec("HND-81", "HND-82", "HND-84", "HND-25")
async def test_whatever_is_cut_calls_and_answers_stay_together(
    family: WireFamily,
    plan: list[tuple[str, int]],
    share: float,
    step: str | CallEnd,
) -> None:
    messages = [user(family, "the first wish")]
    for at, (kind, count) in enumerate(plan):
        if kind == "talk":
            messages += plain_talk(family, count, "word " * 30)
        else:
            messages += tool_round(family, [f"c{at}_{n}" for n in range(count)], OUTPUT[:200])
    window = max(1, int(tokens(family, messages) * share))
    result = await made(question(family, messages, limits(window)), FakeModels([step]))
    after = messages_of(family, result.draft.body)
    calls = [i for m in after for i in call_ids(family, m)]
    results = [i for m in after for i in result_ids(family, m)]
    assert calls == results
    assert after[0]["role"] == "user"
    assert after[-1] == messages[-1] or result.draft.cleared_results
    if result.outcome is CompactionOutcome.APPLIED:
        assert result.draft.tokens <= window
    for message in after[2:]:
        is_cleared = PLACEHOLDER in json.dumps(message)
        assert is_cleared or message in messages
