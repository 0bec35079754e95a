from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.handover.policy.structured import (
    ALL_QUOTES_BYTES,
    INSTRUCTION,
    QUOTES_HEADING,
    with_quotes,
)

WORDS = st.text(min_size=1, max_size=200)


@pytest.mark.spec("HND-70")
def test_the_instruction_asks_for_nine_parts_and_nothing_else() -> None:
    asked = INSTRUCTION.format(tokens=4000)
    assert "4000" in asked
    assert [f"\n{n}. " in asked for n in range(1, 10)] == [True] * 9
    assert "\n10. " not in asked


@given(WORDS, st.lists(WORDS, max_size=5))
def test_every_message_of_the_users_is_there_word_for_word(
    summary: str, prompts: list[str]
) -> None:
    whole = with_quotes(summary, prompts)
    assert all(words.strip() in whole for words in prompts)
    assert whole.startswith(summary.rstrip())


def test_what_is_quoted_already_is_not_added() -> None:
    assert with_quotes("He said: mend it.", ["mend it.", " "]) == "He said: mend it."


def test_the_newest_messages_go_first_where_room_is_short() -> None:
    prompts = [f"wish {number} " + "x" * 1500 for number in range(20)]
    added = with_quotes("S", prompts).removeprefix(f"S\n\n{QUOTES_HEADING}")
    assert len(added.encode()) <= ALL_QUOTES_BYTES + len(prompts)
    assert "wish 19 " in added
    assert "wish 0 " not in added
    assert added.index("wish 18 ") < added.index("wish 19 ")
