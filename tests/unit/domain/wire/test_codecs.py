"""What a request's address says, beside its body."""

from __future__ import annotations

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import address_of, codec_for, read_request
from services.domain.wire.model import Address, WireError

GEMINI = codec_for(WireFamily.GEMINI)
CONTENTS = b'{"contents":[{"parts":[{"text":"x"}]}]}'


@pytest.mark.spec("XLT-26")
@pytest.mark.parametrize("is_stream", [False, True])
def test_an_address_says_model_and_kind_of_answer(*, is_stream: bool) -> None:
    address = Address("tunedModels/a:b", is_stream)
    request = read_request(GEMINI, CONTENTS, address)
    assert (request.model, request.is_stream) == ("tunedModels/a:b", is_stream)
    assert address_of(request) == address


@pytest.mark.spec("XLT-33")
@pytest.mark.parametrize("odd", ["\\u0000", "\\ud800", "\\n"])
def test_a_name_of_a_model_that_no_row_could_hold_is_refused(odd: str) -> None:
    body = f'{{"model":"m{odd}","messages":[{{"role":"user","content":"x"}}]}}'.encode()
    with pytest.raises(WireError, match="printable"):
        read_request(codec_for(WireFamily.OPENAI_CHAT), body)
    with pytest.raises(WireError, match="printable"):
        read_request(GEMINI, CONTENTS, Address("m\x00", is_stream=False))


def test_dialects_that_say_it_in_the_body_have_no_address() -> None:
    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}'
    request = read_request(codec_for(WireFamily.OPENAI_CHAT), body)
    assert (request.model, request.is_stream) == ("m", True)
    assert address_of(request) is None
