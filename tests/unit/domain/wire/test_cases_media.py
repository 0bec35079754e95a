"""Small requests on which gateways were seen to lose images and documents."""

from __future__ import annotations

import pytest

from tests.unit.domain.wire.flows import A, G, Json, O, R, at, kinds, sent

IMAGE: Json = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "aGk="},
}
PDF: Json = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERg=="},
}
LOOK: Json = {"type": "text", "text": "look"}
PNG_URL = "data:image/png;base64,aGk="
PDF_URL = "data:application/pdf;base64,JVBERg=="


def asked(*content: Json) -> Json:
    """Return a Messages request of one user turn."""
    return {"max_tokens": 9, "messages": [{"role": "user", "content": list(content)}]}


def returned(*content: Json) -> Json:
    """Return a Messages request whose last turn is a tool's result."""
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": list(content)}
    return {
        "max_tokens": 9,
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [call]},
            {"role": "user", "content": [result]},
        ],
    }


@pytest.mark.spec("XLT-69")
@pytest.mark.parametrize("content", [(IMAGE,), (LOOK, IMAGE)])
def test_a_picture_that_a_tool_returned_follows_its_result(content: tuple[Json, ...]) -> None:
    """B-074."""
    told = sent(A, returned(*content), O)["messages"]
    assert [at(told, place, "role") for place in (2, 3)] == ["tool", "user"]
    assert isinstance(at(told, 2, "content"), str)
    assert kinds(at(told, 3, "content")) == ["text", "image_url"]
    assert at(told, 3, "content", 1, "image_url", "url") == PNG_URL


@pytest.mark.spec("XLT-69")
def test_a_picture_among_a_results_words_stands_beside_the_answer() -> None:
    """B-076."""
    told = sent(A, returned(LOOK, IMAGE), G)["contents"]
    assert at(told, 2, "role") == "user"
    assert at(told, 2, "parts", 0, "functionResponse", "response", "result") == "look"
    assert at(told, 2, "parts", 1, "inlineData") == {"mimeType": "image/png", "data": "aGk="}
    assert at(told, 3) is None


@pytest.mark.spec("XLT-69")
def test_an_output_of_words_and_a_picture_is_both() -> None:
    """B-074, B-076."""
    output = at(sent(A, returned(LOOK, IMAGE), R)["input"], 2, "output")
    assert kinds(output) == ["input_text", "input_image"]
    assert at(output, 1, "image_url") == PNG_URL


@pytest.mark.spec("XLT-53")
def test_a_users_picture_arrives_beside_the_words() -> None:
    """B-077."""
    content = at(sent(A, asked(LOOK, IMAGE), O)["messages"], 0, "content")
    assert kinds(content) == ["text", "image_url"]
    assert at(content, 1, "image_url", "url") == PNG_URL
    assert at(sent(A, asked(LOOK, IMAGE), G)["contents"], 0, "parts", 1, "inlineData", "data") == (
        "aGk="
    )


@pytest.mark.spec("XLT-56")
def test_a_document_arrives_in_every_dialect() -> None:
    """B-079, B-080."""
    content = at(sent(A, asked(PDF, LOOK), R)["input"], 0, "content")
    assert kinds(content) == ["input_file", "input_text"]
    assert at(content, 0, "file_data") == PDF_URL
    content = at(sent(A, asked(PDF, LOOK), O)["messages"], 0, "content")
    assert kinds(content) == ["file", "text"]
    assert at(content, 0, "file", "file_data") == PDF_URL
    parts = at(sent(A, asked(PDF, LOOK), G)["contents"], 0, "parts")
    assert at(parts, 0, "inlineData") == {"mimeType": "application/pdf", "data": "JVBERg=="}
