"""Patterns and lists of models."""

from __future__ import annotations

import pytest

from services.credentials.policy.matching import canonical_model, is_match, serves
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import credential


@pytest.mark.spec("CRD-12")
@pytest.mark.parametrize(
    ("pattern", "model", "matches"),
    [
        ("claude-x", "claude-x", True),
        ("Claude-X", "claude-x", True),
        ("claude-x", "claude-xy", False),
        ("claude-*", "Claude-X", True),
        ("*-x", "claude-x", True),
        ("*-x", "claude-xy", False),
        ("*aud*", "claude-x", True),
        ("aud*", "claude-x", False),
        ("*", "anything", True),
        ("claude-x", "claude-x(high)", True),
        ("*-x", "claude-x [1m]", True),
    ],
)
def test_patterns(pattern: str, model: str, matches: bool) -> None:
    assert is_match(pattern, model) is matches


@pytest.mark.spec("CRD-13")
def test_option_suffixes_are_no_part_of_a_model() -> None:
    assert canonical_model("m(high)") == canonical_model("m[1m]") == canonical_model(" m ") == "m"
    assert canonical_model("qwen:8b") == "qwen:8b"


def test_exclusions_win_over_the_list_and_gateways_need_an_alias() -> None:
    listed = credential(model_ids=("a", "b"), excluded_model_patterns=("b",)).spec
    assert [serves(listed, name) for name in ("a", "b", "c", "")] == [True, False, False, True]
    gateway = credential(kind=CredentialKind.GATEWAY, upstream_id_by_model=(("a", "x"),)).spec
    assert [serves(gateway, name) for name in ("a", "b")] == [True, False]
