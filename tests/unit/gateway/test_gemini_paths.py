"""What the path of a Gemini request asks for."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.routes.gemini import Asked, asked_of
from gateway.routes.table import label_of


@pytest.mark.spec("XLT-13")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v1beta/models/m:generateContent", Asked("m", "generateContent")),
        ("/v1/models/m:countTokens", Asked("m", "countTokens")),
        ("/v1beta/models/a/b:free:generateContent", Asked("a/b:free", "generateContent")),
        ("/v1beta/models/a%2Fb%3Afree%3AgenerateContent", Asked("a/b:free", "generateContent")),
        ("/v1beta/models/models/m:x", Asked("models/m", "x")),
        ("/v1beta/tunedModels/t:generateContent", Asked("tunedModels/t", "generateContent")),
        ("/v1beta/models/:generateContent", None),
        ("/v1beta/tunedModels/:generateContent", None),
        ("/v1beta/models/m", None),
    ],
)
def test_the_action_stands_behind_the_last_colon(path: str, expected: Asked | None) -> None:
    assert asked_of(path) == expected


@given(st.text(min_size=1).filter(lambda name: name.strip("/")), st.sampled_from(["", ":/"]))
def test_any_name_is_found_again_once_it_is_quoted(name: str, safe: str) -> None:
    written = quote(name.encode("utf-8", "replace"), safe=safe)
    found = asked_of(f"/v1beta/models/{written}:act")
    assert found == Asked(name.encode("utf-8", "replace").decode().strip("/"), "act")


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("/v1beta/models/somebodys-name:generateContent", "gemini"),
        ("/v1/models/x:countTokens", "count_tokens"),
        ("/v1beta/models/x:somebodys-name", "models"),
        ("/v1beta/models", "models"),
        ("/v1/responses", "responses"),
        ("/v1/responses/resp_somebodys", "other"),
    ],
)
def test_a_label_holds_nothing_of_the_caller(path: str, label: str) -> None:
    assert label_of(path) == label
