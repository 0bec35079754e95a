"""The declared pool and the store agree, and agreeing twice changes nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.credentials.model import (
    CredentialSpec,
    Mark,
    MarkKind,
    Origin,
    Record,
    Sealed,
    Secrets,
    SystemState,
)
from services.credentials.policy.declared import (
    Declared,
    Reconciliation,
    identities,
    reconcile,
    secret_text,
)
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW

AUTH = Mark(MarkKind.AUTH, NOW, NOW + 9)
QUOTA = Mark(MarkKind.QUOTA, NOW, NOW + 9)


def declared(label: str = "a", value: str = "s1", **spec: object) -> Declared:
    base = CredentialSpec(provider="p", kind=CredentialKind.API_KEY, label=label)
    settings = replace(base, **spec)  # type: ignore[arg-type]  # tests name any field
    return Declared(settings, Secrets(value=value), Origin.POOL)


def plan(wanted: list[Declared], records: list[Record]) -> Reconciliation:
    return reconcile(
        wanted,
        records,
        lambda text: f"digest of {text}",
        NOW,
    )


def stored(done: Reconciliation, *marks: Mark) -> list[Record]:
    return [
        Record(
            replace(change.credential, marks=marks),
            Sealed("k", b""),
            change.spec_digest,
            change.secret_digest,
        )
        for change in done.changes
    ]


def test_reading_the_same_file_again_changes_nothing() -> None:
    wanted = [declared("a"), declared("b"), declared("")]
    records = stored(plan(wanted, []))
    assert plan(wanted, records) == Reconciliation((), ())
    refreshed = [
        replace(one, credential=replace(one.credential, credential_version=7)) for one in records
    ]
    assert plan(wanted, refreshed) == Reconciliation((), ())


@pytest.mark.spec("CRD-6", "CRD-148")
def test_a_new_secret_keeps_identity_and_marks_but_for_the_refusal_of_the_old() -> None:
    records = stored(plan([declared(value="s1")], []), AUTH, QUOTA)
    (change,) = plan([declared(value="s2")], records).changes
    assert change.credential.id == records[0].credential.id
    assert change.credential.credential_version == 2
    assert change.credential.active_marks(NOW) == (QUOTA,)
    assert change.secrets == Secrets(value="s2")


@pytest.mark.spec("CRD-6")
def test_an_edit_keeps_identity_marks_and_secret() -> None:
    records = stored(plan([declared()], []), QUOTA)
    (change,) = plan([declared(priority=5, account="x")], records).changes
    assert change.secrets is None
    assert change.credential.spec.priority == 5
    assert (change.credential.marks, change.credential.credential_version) == ((QUOTA,), 1)


def test_a_switch_set_by_an_operator_outlives_a_restart_until_the_file_is_edited() -> None:
    (record,) = stored(plan([declared()], []))
    off = replace(record.credential, spec=replace(record.credential.spec, is_enabled=False))
    records = [replace(record, credential=off)]
    assert plan([declared()], records) == Reconciliation((), ())
    (change,) = plan([declared(priority=1)], records).changes
    assert change.credential.spec.is_enabled


def test_what_is_no_longer_declared_goes_and_what_was_stored_by_hand_stays() -> None:
    records = stored(plan([declared("a"), declared("b")], []))
    by_hand = replace(records[1], credential=replace(records[1].credential, origin=Origin.STORED))
    found = plan([], [records[0], by_hand])
    assert [one.id for one in found.removed] == [records[0].credential.id]


def test_an_unreadable_record_is_healed_by_what_is_declared() -> None:
    (record,) = stored(plan([declared()], []))
    lost = replace(record.credential, system_state=SystemState.QUARANTINED)
    (change,) = plan([declared()], [replace(record, credential=lost)]).changes
    assert change.secrets == Secrets(value="s1")
    assert change.credential.system_state is SystemState.OK


@pytest.mark.spec("CRD-132", "CRD-135")
@pytest.mark.parametrize(
    ("declared_token", "spent", "is_healed"),
    [
        ("R1", (), True),
        ("R1", ("digest of R1",), False),
        ("R1", ("digest of R5",), False),  # so long ago that R1 is not remembered any more
        ("R9", ("digest of R1",), True),
    ],
)
def test_an_unreadable_account_is_healed_only_by_a_token_that_was_not_replaced(
    declared_token: str, spent: tuple[str, ...], *, is_healed: bool
) -> None:
    def account(token: str) -> Declared:
        one = declared(kind=CredentialKind.CLAUDE_OAUTH)
        return replace(one, secrets=Secrets(value="s1", refresh_token=token))

    (record,) = stored(plan([account("R1")], []))
    unread = replace(record.credential, system_state=SystemState.QUARANTINED, spent_digests=spent)
    found = plan([account(declared_token)], [replace(record, credential=unread)])
    assert bool(found.changes) is is_healed
    edited = replace(account("R1"), spec=replace(account("R1").spec, priority=7))
    assert bool(plan([edited], [replace(record, credential=unread)]).changes) is (spent == ())


def test_identities_tell_apart_what_differs_and_are_stable() -> None:
    wanted = [
        declared("a"),
        declared("b"),
        declared(""),
        declared(""),
        declared("a", installation_id="t"),
        declared("a", kind=CredentialKind.CLAUDE_OAUTH),
        replace(declared("a"), origin=Origin.PROVIDER_KEY),
    ]
    assert len(set(identities(wanted))) == len(wanted)
    assert identities(wanted) == identities(
        [replace(one, secrets=Secrets(value="other")) for one in wanted]
    )


@pytest.mark.spec("CRD-152")
def test_secrets_and_labels_print_as_nothing() -> None:
    one = Declared(
        CredentialSpec("p", CredentialKind.API_KEY, label="canary", account="canary"),
        Secrets("canary", "canary", "canary", "canary", "canary", "canary", (("x", "canary"),)),
        Origin.POOL,
    )
    assert "canary" not in repr(one)
    assert secret_text(one.secrets).count("canary") == 7
