from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from services.handover.model import BindingRef, Outcome, Permit, Scope, Summarizer, SummaryKind
from services.handover.policy import choice
from services.handover.policy.history import read
from tests.unit.handover.conversations import (
    ANTHROPIC,
    CHAT,
    LONG,
    Json,
    assistant,
    body,
    tool_loop,
    user,
)

SMALL = Summarizer(BindingRef("m-small", "p1"), 200_000)
TINY = Summarizer(BindingRef("m-tiny", "p2"), 8_000)
BOTH = (SMALL, TINY)


def skip(
    messages: list[Json],
    family: WireFamily = ANTHROPIC,
    kind: SummaryKind = SummaryKind.SWITCH,
    *,
    is_trimmed: bool = False,
) -> Outcome | None:
    history = read(family, body(messages))
    turns = history.turns(0, history.last_run())
    return choice.skip_reason(history, turns, kind, 800, is_trimmed=is_trimmed)


@pytest.mark.parametrize("family", [ANTHROPIC, CHAT])
def test_a_long_history_is_summarised(family: WireFamily) -> None:
    assert skip(tool_loop(family), family) is None


@pytest.mark.spec("HND-2")
def test_a_history_that_the_client_cut_is_kept() -> None:
    messages = tool_loop(ANTHROPIC)
    assert skip(messages, is_trimmed=True) is Outcome.TOO_SMALL
    assert skip(messages, kind=SummaryKind.CLIENT_TRIM, is_trimmed=True) is None


def test_a_history_below_four_summaries_is_kept() -> None:
    def of_tokens(count: int) -> list[Json]:
        return [user("x" * (4 * count)), assistant("ok"), user("y" * 100_000)]

    assert skip(of_tokens(3_100)) is Outcome.TOO_SMALL
    assert skip(of_tokens(3_200)) is None


def test_pictures_count_by_number_and_not_by_bytes() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 1_000_000}
    picture = {"type": "image", "source": source}
    assert skip([user([picture]), assistant("ok"), user("go")]) is Outcome.TOO_SMALL
    assert skip([user([picture] * 2), assistant("ok"), user("go")]) is None


@pytest.mark.spec("HND-24")
def test_without_a_persons_words_the_history_is_kept() -> None:
    result = {"type": "tool_result", "tool_use_id": "t", "content": LONG}
    assert skip([assistant(LONG)]) is Outcome.NO_USER_MESSAGE
    assert skip([user([result]), assistant("a"), user([result])]) is Outcome.NO_USER_MESSAGE


def test_an_answer_to_be_continued_in_place_is_kept() -> None:
    assert skip([user(LONG), assistant("It is")]) is Outcome.FAILED


def test_only_what_the_record_permits_may_write() -> None:
    def named(permit: Permit) -> list[str]:
        return [one.binding.provider for one in choice.permitted(BOTH, permit)]

    assert named(Permit()) == ["p1", "p2"]
    assert named(Permit(providers={"p2": frozenset()})) == ["p2"]
    assert named(Permit(providers={})) == []
    assert named(Permit(excluded_providers=frozenset({"p1"}))) == ["p2"]
    assert named(Permit(excluded_models=frozenset({"m-tiny"}))) == ["p1"]
    assert named(Permit(excluded_bindings=frozenset({("m-small", "p1")}))) == ["p2"]


@pytest.mark.spec("HND-96")
def test_a_gateway_exclusive_tenant_is_summarised_by_its_own_alias_or_not_at_all() -> None:
    exclusive = Permit(
        excluded_providers=frozenset({"p1"}),
        is_gateway_exclusive=True,
        gateway_models={"p1": frozenset({"m-small"})},
    )
    assert choice.permitted(BOTH, exclusive) == (SMALL,)
    assert choice.within_boundary((SMALL,), exclusive, Scope.TENANT) == (SMALL,)


@pytest.mark.spec("HND-4")
@pytest.mark.parametrize("scope", [Scope.TENANT, Scope.CALLER])
def test_a_tenants_conversation_goes_only_where_the_tenant_has_a_key(scope: Scope) -> None:
    owners = {"p1": frozenset({"operator", "caller"}), "p2": frozenset({"tenant"})}
    permit = Permit(providers=owners)
    assert choice.within_boundary(BOTH, permit, scope) == (TINY,)
    assert choice.within_boundary(BOTH, Permit(), scope) == ()
    assert choice.within_boundary(BOTH, permit, Scope.DEPLOYMENT) == BOTH


def test_a_summariser_must_take_the_question_and_the_summary() -> None:
    assert choice.fitting(BOTH, 5_200, 800) == BOTH
    assert choice.fitting(BOTH, 5_201, 800) == (SMALL,)
    unknown = Summarizer(BindingRef("m", "p"))
    assert choice.fitting((unknown,), 10**9, 800) == (unknown,)
