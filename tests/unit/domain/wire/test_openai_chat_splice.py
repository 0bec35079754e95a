from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.catalog import ModelFacts
from services.domain.wire.model import Target
from services.domain.wire.openai_chat import CODEC
from tests.unit.domain.wire.openai_chat_cases import target

VENDOR = target(is_vendor=True)
STRICT = target(ModelFacts(reasoning="always", reasoning_levels=("low", "high")), is_vendor=True)


def spliced(body: str, to: Target) -> tuple[str, list[str]]:
    """Return the body for ``to`` and the paths of what was recorded."""
    raw = body.encode()
    encoded = CODEC.splice_request(raw, CODEC.decode_request(raw), to)
    return encoded.body.decode(), [transform.path for transform in encoded.transforms]


@pytest.mark.spec("XLT-37", "XLT-39")
def test_only_the_model_changes_and_every_other_byte_stays() -> None:
    body = (
        '{ "messages" : [ {"role":"developer","content":"\\u00fc\\/ \\ud83d"} , {"role":"user",'
        '"content":[{"type":"novelty","x":1.0E5}]}],\n"model": "alias", "n":1e0,"big":'
        "123456789012345678901234567890}\r\n"
    )
    assert spliced(body, VENDOR) == (body.replace('"alias"', '"upstream-model"'), [])


@pytest.mark.spec("XLT-39")
@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ("", '"stream_options":{"include_usage":true},'),
        (',"stream_options":null', ',"stream_options":{"include_usage":true}'),
        (',"stream_options":{}', ',"stream_options":{"include_usage":true}'),
        (
            ',"stream_options":{"include_usage":false, "x":1}',
            ',"stream_options":{"include_usage":true, "x":1}',
        ),
        (',"stream_options":{"include_usage":true}', ',"stream_options":{"include_usage":true}'),
    ],
)
def test_streams_ask_for_usage(members: str, expected: str) -> None:
    head = '"model":"upstream-model","stream":true,"messages":[{"role":"user"}]'
    body, paths = spliced(f"{{{head}{members}}}", VENDOR)
    assert body == (f"{{{head}{expected}}}" if members else f"{{{expected}{head}}}")
    assert paths == ([] if members == expected else ["stream_options"])


@pytest.mark.spec("XLT-39")
def test_developer_becomes_system_away_from_the_vendor() -> None:
    body = '{"model":"upstream-model","messages":[{"role":"developer","content":"x"}]}'
    assert spliced(body, target()) == (
        body.replace("developer", "system"),
        ["messages[0].role"],
    )


@pytest.mark.spec("XLT-39")
def test_a_reasoning_target_gets_what_it_takes() -> None:
    body = (
        '{"temperature":0.5,"model":"upstream-model","max_tokens":2000,"top_p":1,'
        '"messages":[{"role":"user"}],"stop":["x"],"reasoning_effort":"medium","seed":1}'
    )
    changed, paths = spliced(body, STRICT)
    assert changed == (
        '{"model":"upstream-model","max_completion_tokens":2000,"top_p":1,'
        '"messages":[{"role":"user"}],"reasoning_effort":"low","seed":1}'
    )
    assert sorted(paths) == ["max_tokens", "reasoning_effort", "stop", "temperature"]


@pytest.mark.spec("XLT-39")
def test_of_two_limits_one_stays_and_is_capped() -> None:
    body = (
        '{"model":"upstream-model","messages":[{"role":"user"}],'
        '"max_tokens":2000,"max_completion_tokens":1000}'
    )
    capped = target(STRICT.facts, is_vendor=True, max_output_tokens=10)
    changed, _ = spliced(body, capped)
    assert json.loads(changed) == {
        "model": "upstream-model",
        "messages": [{"role": "user"}],
        "max_completion_tokens": 10,
    }


def test_flags_of_the_catalog_remove_members() -> None:
    body = '{"model":"upstream-model","messages":[{"role":"user"}],"seed":1,"logprobs":true}'
    flags = target(ModelFacts(refused_parameters=frozenset(["seed", "logprobs"])))
    changed, paths = spliced(body, flags)
    assert changed == '{"model":"upstream-model","messages":[{"role":"user"}]}'
    assert paths == ["seed", "logprobs"]
    effort = body.replace('"seed":1', '"reasoning_effort":"low"')
    assert "reasoning_effort" not in spliced(effort, target())[0]


_values = st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=3)
_members = st.dictionaries(st.text(max_size=4).map(lambda key: f"x-{key}"), _values, max_size=4)


@pytest.mark.spec("XLT-37")
@given(_members, _members, st.sampled_from([0, 1, 4]), st.booleans())
def test_unknown_members_keep_their_bytes(
    before: dict[str, object], after: dict[str, object], indent: int, is_ascii: bool
) -> None:
    members = {
        **before,
        "model": "alias",
        "messages": [{"role": "user", "content": "hi"}],
        **{key: value for key, value in after.items() if key not in before},
    }
    body = json.dumps(members, indent=indent or None, ensure_ascii=is_ascii)
    changed, paths = spliced(body, VENDOR)
    assert changed == body.replace('"model": "alias"', '"model": "upstream-model"')
    assert paths == []
