"""Media of every form: refused where they are empty, asked for only where they can be said."""

from __future__ import annotations

import base64
import contextlib
import json

import pytest

from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import features_of
from services.domain.wire.model import Media, Role, Turn, UnbuildableError, WireError
from services.domain.wire.requirements import is_carried
from tests.unit.domain.wire.foreign_cases import PAIRS, Json, request, target

A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)
DATA = base64.b64encode(b"what it holds").decode()
FORMS = [
    Media("image", data=DATA),
    Media("image", url="https://x.example/a.png"),
    Media("image", file_id="file-1"),
    Media("document", "application/pdf", data=DATA),
    Media("document", "text/plain", data=DATA),
    Media("document", text="words"),
    Media("document", url="https://x.example/a.pdf"),
    Media("document", file_id="file-1"),
    Media("audio", "audio/wav", data=DATA),
    Media("audio", "audio/mpeg", data=DATA),
    Media("audio", "audio/ogg", data=DATA),
    Media("audio", "audio/wav", file_id="file-1"),
    Media("video", "video/mp4", data=DATA),
]


@pytest.mark.spec("XLT-53", "XLT-54", "XLT-56", "XLT-57", "XLT-58", "XLT-59", "XLT-60")
@pytest.mark.parametrize("media", FORMS)
@pytest.mark.parametrize(("source", "to"), PAIRS)
def test_media_are_carried_exactly_where_they_can_be_said(
    media: Media, source: WireFamily, to: WireFamily
) -> None:
    asked = request(source, turns=(Turn(Role.USER, (media,), 0),))
    is_said = False
    with contextlib.suppress(UnbuildableError):
        codec_for(to).encode_request(asked, target(to))
        is_said = True
    assert is_carried(features_of(asked, 10).requirements, source, to) is is_said


@pytest.mark.spec("XLT-206")
@pytest.mark.parametrize(
    ("family", "part", "place"),
    [
        (A, {"type": "image", "source": {"type": "base64", "data": ""}}, "source.data"),
        (A, {"type": "document", "source": {"type": "url"}}, "source.url"),
        (A, {"type": "document", "source": {"type": "file"}}, "source.file_id"),
        (C, {"type": "image_url", "image_url": {"url": ""}}, "image_url.url"),
        (C, {"type": "file", "file": {"file_data": "data:text/plain;base64,"}}, "file.file_data"),
        (C, {"type": "input_audio", "input_audio": {"data": ""}}, "input_audio.data"),
        (R, {"type": "input_image", "image_url": "data:image/png;base64,"}, "image_url"),
        (R, {"type": "input_file", "file_data": "data:text/plain;base64,"}, "file_data"),
        (G, {"inlineData": {"mimeType": "image/png", "data": ""}}, "inlineData.data"),
        (G, {"fileData": {"mimeType": "image/png"}}, "fileData.fileUri"),
    ],
)
def test_media_that_hold_nothing_are_refused_by_their_place(
    family: WireFamily, part: Json, place: str
) -> None:
    with pytest.raises(WireError, match="must not be empty") as caught:
        _read(family, part)
    inside = "parts" if family is G else "content"
    assert caught.value.path.endswith(f"[0].{inside}[0].{place}")


@pytest.mark.spec("XLT-221")
def test_a_source_of_a_form_that_we_do_not_know_is_left_to_its_vendor() -> None:
    _read(A, {"type": "image", "source": {"type": "brand_new", "handle": "x"}})


def _read(family: WireFamily, part: Json) -> None:
    said = [{"role": "user", "parts" if family is G else "content": [part]}]
    members = {A: "messages", C: "messages", R: "input", G: "contents"}
    body = json.dumps({"model": "m", "max_tokens": 9, members[family]: said}).encode()
    codec_for(family).decode_request(body)
