from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import UnknownFamilyError, codec_for
from services.domain.wire.features import (
    Features,
    LastKind,
    Requirement,
    features_of,
    utf8_length,
)
from services.domain.wire.requirements import untranslatable
from tests.unit.domain.wire.anthropic_cases import Json

USER: Json = {"role": "user", "content": "hi"}
IMAGE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "A" * 4000},
}


def features(*messages: Json, **members: object) -> Features:
    body = json.dumps({"model": "m", "max_tokens": 9, "messages": messages, **members}).encode()
    return features_of(codec_for(WireFamily.ANTHROPIC).decode_request(body), len(body))


def chat_features(*messages: Json, **members: object) -> Features:
    body = json.dumps({"model": "m", "messages": messages, **members}).encode()
    return features_of(codec_for(WireFamily.OPENAI_CHAT).decode_request(body), len(body))


@pytest.mark.spec("TRN-3", "TRN-4", "TRN-5")
def test_sizes_count_text_and_leave_image_bytes_out() -> None:
    content = [{"type": "text", "text": "é" * 20}, IMAGE]
    found = features({"role": "user", "content": content}, system="x" * 8)
    assert found.text_tokens == (40 + 8) // 4
    assert found.overflow_tokens == (found.body_bytes - 4000) // 4 + 1600
    assert found.full_tokens == (found.body_bytes - 4000) // 6 + 1600
    assert found.image_count == 1


@pytest.mark.spec("TRN-4", "TRN-5")
def test_the_base64_of_a_document_is_no_text_even_inside_a_tool_result() -> None:
    source: Json = {"type": "base64", "media_type": "application/pdf", "data": "A" * 1_400_000}
    document: Json = {"type": "document", "source": source}
    result: Json = {"type": "tool_result", "tool_use_id": "t", "content": [document]}
    for block in (document, result):
        found = features({"role": "user", "content": [block]})
        assert found.media_tokens == 1_400_000 // 64
        assert found.overflow_tokens == (found.body_bytes - 1_400_000) // 4 + found.media_tokens
        assert found.full_tokens < 22_100
        assert found.image_count == 0


@pytest.mark.spec("TRN-6")
def test_signatures_are_counted_for_messages_clients() -> None:
    thinking = {"type": "thinking", "thinking": "x", "signature": "s" * 40}
    found = features(USER, {"role": "assistant", "content": [thinking]})
    assert found.signature_tokens == 10
    assert Requirement.REASONING_STATE in found.requirements


@pytest.mark.spec("TRN-7")
@pytest.mark.parametrize(("value", "limit"), [(5, 5), (None, 0), (-1, 0), ("9", 0)])
def test_an_output_limit_that_is_no_number_is_not_set(value: object, limit: int) -> None:
    assert features(USER, max_tokens=value).max_output_tokens == limit


@pytest.mark.spec("TRN-8", "TRN-9")
def test_the_last_message_is_the_last_that_is_no_system_message() -> None:
    system: Json = {"role": "system", "content": "s"}
    tool: Json = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    mixed: Json = {"role": "user", "content": [tool, {"type": "text", "text": "and"}]}
    assert features(USER, system).last_kind is LastKind.USER_PROMPT
    assert features(USER, mixed, system).last_kind is LastKind.TOOL_RESULT
    assert features(USER, {"role": "assistant", "content": "a"}).last_kind is LastKind.ASSISTANT
    assert features(system).last_kind is LastKind.NONE
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    loop: list[Json] = [
        USER,
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "x"},
    ]
    assert chat_features(*loop).last_kind is LastKind.TOOL_RESULT
    assert chat_features(*loop, USER).last_kind is LastKind.USER_PROMPT
    assert chat_features(*loop).tool_call_count == 1


@pytest.mark.spec("XLT-214", "XLT-215", "XLT-217", "XLT-218")
@pytest.mark.parametrize(
    ("block", "needs"),
    [
        ({"type": "brand_new"}, [Requirement.NATIVE_ONLY]),
        ({"type": "server_tool_use", "id": "s"}, [Requirement.SERVER_TOOLS]),
        (IMAGE, [Requirement.IMAGES]),
        (
            {"type": "image", "source": {"type": "url", "url": "https://x"}},
            [Requirement.IMAGES, Requirement.REMOTE_IMAGE],
        ),
        (
            {"type": "image", "source": {"type": "file", "file_id": "f"}},
            [Requirement.IMAGES, Requirement.VENDOR_FILE],
        ),
        (
            {"type": "document", "source": {"type": "url", "url": "https://x"}},
            [Requirement.DOCUMENTS, Requirement.REMOTE_DOCUMENT],
        ),
        (
            {
                "type": "document",
                "source": {"type": "text", "data": "x"},
                "citations": {"enabled": True},
            },
            [Requirement.DOCUMENTS, Requirement.CITATIONS],
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": [IMAGE, {"type": "odd"}]},
            [Requirement.IMAGES],
        ),
    ],
)
def test_needs_follow_from_the_blocks(block: Json, needs: list[Requirement]) -> None:
    assert list(features({"role": "user", "content": [block]}).requirements) == needs


@pytest.mark.spec("XLT-218", "XLT-99")
def test_needs_follow_from_the_parameters() -> None:
    schema = {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}
    found = chat_features(USER, n=2, logprobs=True, response_format=schema)
    assert list(found.requirements) == [
        Requirement.STRUCTURED_OUTPUT,
        Requirement.LOGPROBS,
        Requirement.MULTI_CANDIDATE,
    ]
    server = {"type": "web_search_20250305", "name": "web_search"}
    assert features(USER, tools=[server]).requirements == (Requirement.SERVER_TOOLS,)


def test_nothing_is_untranslatable_into_its_own_dialect() -> None:
    needs = tuple(Requirement)
    for family in WireFamily:
        assert not untranslatable(needs, family, family)


@given(st.text())
def test_the_length_in_utf8_is_exact(words: str) -> None:
    assert utf8_length(words) == len(words.encode())


def test_a_codec_is_of_its_family() -> None:
    for family in WireFamily:
        with contextlib.suppress(UnknownFamilyError):
            assert codec_for(family).family is family
