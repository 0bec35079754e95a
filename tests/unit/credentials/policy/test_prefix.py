"""A credential may have a namespace of its own for models."""

from __future__ import annotations

import pytest

from services.credentials.model import Verdict
from services.credentials.policy.matching import split_prefix
from services.credentials.policy.view import View
from tests.unit.credentials.cases import MODEL, NOW, credential

POOL = (credential("bare"), credential("own", model_prefix="p"))


@pytest.mark.spec("CRD-14")
@pytest.mark.parametrize(
    ("prefix", "is_forced", "free"),
    [
        ("p", False, {"own"}),
        ("p", True, {"own"}),
        ("", False, {"bare", "own"}),
        ("", True, {"bare"}),
    ],
)
def test_a_namespace_selects_its_own(prefix: str, is_forced: bool, free: set[str]) -> None:
    view = View.of(POOL, MODEL, NOW, prefix=prefix, is_prefix_forced=is_forced)
    assert {one.id for one in view.free} == free
    assert {one.verdict for one in view.barred} <= {Verdict.PREFIX}


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        ("p/m", ("p", "m")),
        ("q/m", ("", "q/m")),
        ("p/", ("", "p/")),
        ("m", ("", "m")),
        ("p/vendor/m", ("p", "vendor/m")),
    ],
)
def test_only_known_namespaces_are_split_off(model: str, parts: tuple[str, str]) -> None:
    assert split_prefix(model, {"p"}) == parts
