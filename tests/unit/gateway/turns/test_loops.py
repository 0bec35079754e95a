from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.turns.loops import EDIT_TOOLS, PROMPT_BYTES, Loop, loop_of, progress_digest
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of

SAME_WORDS = "I will look at the parser once more and then fix it."


def loop(*calls: tuple[str, str], words: list[str] | None = None) -> Loop:
    messages: list[dict[str, object]] = [{"role": "user", "content": "fix it"}]
    for number, (name, argument) in enumerate(calls):
        said = [{"type": "text", "text": words[number]}] if words else []
        call = {"type": "tool_use", "id": f"t{number}", "name": name, "input": {"a": argument}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x"}
        messages += [
            {"role": "assistant", "content": [*said, call]},
            {"role": "user", "content": [result]},
        ]
    body = orjson.dumps({"model": "m", "max_tokens": 9, "messages": messages})
    request = codec_for(WireFamily.ANTHROPIC).decode_request(body)
    return loop_of(request, features_of(request, len(body)))


@pytest.mark.spec("TRN-83")
def test_one_call_made_five_times_of_ten_is_a_tight_loop() -> None:
    others = [("Read", str(number)) for number in range(6)]
    assert loop(*others, *[("Bash", "ls")] * 4) is Loop.NONE
    assert loop(*others, *[("Bash", "ls")] * 5) is Loop.TIGHT
    assert loop(*[("Bash", "ls")] * 5, *[("Read", str(n)) for n in range(10)]) is Loop.NONE


@pytest.mark.spec("TRN-84")
def test_few_different_calls_among_many_are_a_wide_loop_unless_files_change() -> None:
    circle = [("Read", str(number % 8)) for number in range(24)]
    assert loop(*circle) is Loop.WIDE
    assert loop(*circle[:23]) is Loop.NONE
    assert loop(*[("Read", str(number)) for number in range(40)]) is Loop.NONE
    for tool in ("Edit", "apply_patch", "write", "str_replace_based_edit_tool"):
        assert tool.lower() in EDIT_TOOLS
        assert loop(*circle, (tool, "f")) is Loop.NONE


@pytest.mark.spec("TRN-84")
def test_the_wide_loop_goes_before_the_tight_one() -> None:
    assert loop(*[("Bash", "ls")] * 24) is Loop.WIDE


@pytest.mark.spec("TRN-88")
def test_the_same_long_words_three_times_are_a_loop() -> None:
    calls = [("Read", str(number)) for number in range(3)]
    assert loop(*calls, words=[SAME_WORDS, SAME_WORDS.upper(), f" {SAME_WORDS}\n"]) is Loop.WORDS
    assert loop(*calls, words=[SAME_WORDS, SAME_WORDS, "something else altogether"]) is Loop.NONE
    assert loop(*calls, words=["ok"] * 3) is Loop.NONE


@given(st.lists(st.integers(0, 10**6), max_size=40, unique=True))
def test_an_agent_that_never_repeats_itself_is_in_no_loop(arguments: list[int]) -> None:
    assert loop(*[("Bash", str(each)) for each in arguments]) is Loop.NONE


def _digest(*messages: dict[str, object]) -> bytes:
    body = orjson.dumps({"model": "m", "max_tokens": 9, "messages": messages})
    request = codec_for(WireFamily.ANTHROPIC).decode_request(body)
    return progress_digest(request, features_of(request, len(body)))


@pytest.mark.spec("TRN-87")
def test_a_request_is_another_once_its_history_call_or_newest_words_are() -> None:
    def said(words: str) -> dict[str, object]:
        return {"role": "user", "content": words}

    def called(argument: str) -> list[dict[str, object]]:
        call = {"type": "tool_use", "id": "t", "name": "Read", "input": {"a": argument}}
        result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
        return [
            said("go"),
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ]

    answer: dict[str, object] = {"role": "assistant", "content": "done"}
    digests = [
        _digest(said("go")),
        _digest(said("stop")),
        _digest(said("go"), answer, said("go")),
        _digest(*called("a")),
        _digest(*called("b")),
    ]
    assert len(set(digests)) == len(digests)
    assert _digest(said("go")) == digests[0]
    long = "x" * PROMPT_BYTES
    assert _digest(said(long)) == _digest(said(long + "y"))


@pytest.mark.spec("TRN-87")
def test_a_stuck_session_is_the_least_of_loops() -> None:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]})
    request = codec_for(WireFamily.OPENAI_CHAT).decode_request(body)
    features = features_of(request, len(body))
    assert loop_of(request, features, is_stuck=True) is Loop.STUCK
    assert loop_of(request, features) is Loop.NONE
