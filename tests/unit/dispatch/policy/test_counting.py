from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.policy.counting import COUNTING, question, tokens_of
from services.domain.vocab import WireFamily


@pytest.mark.spec("XLT-9", "XLT-12")
def test_a_question_holds_only_what_is_counted_and_its_bytes() -> None:
    built = b'{"model":"m","max_tokens":1,"stream":true,"messages":[ 1.50 ],"x":1}'
    assert question(WireFamily.ANTHROPIC, built, "m") == b'{"model":"m","messages":[ 1.50 ]}'
    built = b'{"model":"m","store":false,"stream":true,"input": "\\u00e9","tools":[ ]}'
    asked = question(WireFamily.OPENAI_RESPONSES, built, "m")
    assert asked == b'{"model":"m","input":"\\u00e9","tools":[ ]}'


@pytest.mark.spec("XLT-15")
def test_gemini_is_asked_for_a_whole_request_that_names_the_model() -> None:
    built = b'{"contents":[ 1.50 ],"model":"models/other","tools":[]}'
    asked = question(WireFamily.GEMINI, built, "models/m")
    assert asked == (
        b'{"generateContentRequest":{"model":"models/m","contents":[ 1.50 ],"tools":[]}}'
    )


def test_a_count_is_read_in_every_dialect() -> None:
    assert tokens_of(b'{"input_tokens": 7}') == 7
    assert tokens_of(b'{"object":"response.input_tokens","input_tokens":0}') == 0
    assert tokens_of(b'{"totalTokens": 9}') == 9
    for odd in (b"", b"[]", b'{"input_tokens":"7"}', b"<html>", b'{"totalTokens":-1}'):
        assert tokens_of(odd) is None
    for odd in (b'{"input_tokens":9223372036854775808}', b'{"totalTokens":1e300}'):
        assert tokens_of(odd) is None


@given(st.dictionaries(st.text(), st.integers(-9, 9)), st.sampled_from(sorted(COUNTING)))
def test_any_body_makes_a_question(members: dict[str, int], family: WireFamily) -> None:
    assert isinstance(orjson.loads(question(family, orjson.dumps(members), "m")), dict)
