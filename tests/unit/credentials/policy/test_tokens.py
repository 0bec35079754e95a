"""Ids of grants show that a replica of ours gave exactly this grant."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import BindingRef, Bucket, Grant
from services.credentials.policy.hashing import Hasher
from services.credentials.policy.tokens import NONCE_BYTES, grant_id, is_genuine, scope_of
from services.domain.vocab import CredentialKind, CredentialOwner
from tests.unit.credentials.cases import NOW, TENANT

HASHER = Hasher(b"k" * 32)
BARE = Grant(
    "",
    "a1",
    TENANT,
    BindingRef("m", "p", "up"),
    CredentialKind.API_KEY,
    CredentialOwner.OPERATOR,
    Bucket.CLEAN,
    credential_id="c1",
)
SCOPE = scope_of("a1", TENANT, "c1", "", BARE.binding, BARE.bucket)


def given_grant(until: float = NOW + 60) -> Grant:
    return replace(BARE, id=grant_id(HASHER, SCOPE, b"n" * NONCE_BYTES, until))


def test_a_grant_is_genuine_until_its_end_and_under_our_key_alone() -> None:
    made = given_grant()
    assert len(made.id) <= 64
    assert is_genuine(HASHER, made, NOW + 59)
    assert not is_genuine(HASHER, made, NOW + 60)
    assert not is_genuine(Hasher(b"o" * 32), made, NOW)


@pytest.mark.parametrize(
    "change",
    [
        {"action_id": "a2"},
        {"installation_id": "t2"},
        {"credential_id": "c2"},
        {"presented_hash": "h"},
        {"bucket": Bucket.WARNED},
        {"binding": BindingRef("m2", "p", "up")},
        {"binding": BindingRef("m", "p", "other")},
    ],
)
def test_no_part_of_it_can_be_changed(change: dict[str, object]) -> None:
    assert not is_genuine(HASHER, replace(given_grant(), **change), NOW)  # type: ignore[arg-type]  # a table's column


@given(st.text(max_size=80))
def test_a_made_up_id_is_none(text: str) -> None:
    assert not is_genuine(HASHER, replace(BARE, id=text), NOW)
