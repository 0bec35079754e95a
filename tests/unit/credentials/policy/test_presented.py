"""Presented credentials are recognised by shape, or ignored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import Presented
from services.credentials.policy.hashing import Hasher
from services.credentials.policy.presented import recognise
from services.domain.vocab import CredentialKind, WireFamily

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln"
A, C, R, G = (
    WireFamily.ANTHROPIC,
    WireFamily.OPENAI_CHAT,
    WireFamily.OPENAI_RESPONSES,
    WireFamily.GEMINI,
)


@pytest.mark.spec("CRD-19")
@pytest.mark.parametrize(
    ("token", "surface", "account", "found"),
    [
        ("sk-ant-api03-x", A, "", ("anthropic", CredentialKind.API_KEY)),
        ("sk-ant-oat01-x", A, "", ("anthropic", CredentialKind.CLAUDE_OAUTH)),
        ("sk-ant-admin01-x", A, "", None),
        ("sk-ant-api03-x", C, "", None),
        ("sk-proj-x", C, "", ("openai", CredentialKind.API_KEY)),
        ("sk-proj-x", R, "", ("openai", CredentialKind.API_KEY)),
        ("sk-proj-x", A, "", None),
        ("whatever", C, "", ("openai", CredentialKind.API_KEY)),
        ("whatever", A, "", None),
        (JWT, R, "acc", ("openai", CredentialKind.CODEX_OAUTH)),
        (JWT, R, "", None),
        (JWT, A, "acc", None),
        ("AIzaSyX", G, "", ("google", CredentialKind.API_KEY)),
        ("ya29.x", G, "", ("google", CredentialKind.GEMINI_OAUTH)),
        ("AIzaSyX", C, "", None),
        ("sk-or-v1-x", C, "", None),
        ("xai-x", C, "", None),
        ("two words", C, "", None),
        ("line\nbreak", C, "", None),
        ("", C, "", None),
        ("x" * 17_000, C, "", None),
    ],
)
def test_shapes(
    token: str, surface: WireFamily, account: str, found: tuple[str, CredentialKind] | None
) -> None:
    assert recognise(Presented(token, surface, account)) == found


@pytest.mark.spec("CRD-19")
@given(st.text(), st.sampled_from(list(WireFamily)), st.text(max_size=3))
def test_a_routing_key_is_nobodys(rest: str, surface: WireFamily, account: str) -> None:
    assert recognise(Presented(f"rk_{rest}", surface, account)) is None


def test_hashes_are_bound_to_the_tenant_and_to_the_deployment() -> None:
    one = Hasher(b"a" * 32)
    assert one.presented("t1", "s") == one.presented("t1", "s")
    names = {
        one.presented("t1", "s"),
        one.presented("t2", "s"),
        Hasher(b"b" * 32).presented("t1", "s"),
    }
    assert len(names) == 3
    assert {len(name) for name in names} == {32}


@pytest.mark.spec("CRD-48")
def test_a_fingerprint_is_eight_hex_digits_that_tell_nothing() -> None:
    name = Hasher(b"a" * 32).fingerprint("account@example.com")
    assert len(name) == 8
    assert int(name, 16) >= 0
    assert name != Hasher(b"b" * 32).fingerprint("account@example.com")
    assert "aaaa" not in repr(Hasher(b"a" * 32))


@pytest.mark.spec("CRD-152")
def test_nothing_that_prints_a_presented_credential_shows_it() -> None:
    assert "canary" not in repr(Presented("canary-token", A, "canary-account"))
