"""Snapshots colour providers, never remove them, and name nobody."""

from __future__ import annotations

import pytest

from services.credentials.model import (
    Availability,
    Eligibility,
    InFlight,
    Mark,
    MarkKind,
    PlanStatus,
    Pool,
)
from services.credentials.policy.eligibility import snapshot_of
from services.domain.vocab import CredentialKind, CredentialOwner
from tests.unit.credentials.cases import NOBODY, NOW, TENANT, credential

WARNED = Mark(MarkKind.WARNING, NOW, NOW + 9, window="5h")
UNPAID = Mark(MarkKind.BILLING, NOW, NOW + 9)
ONE_MODEL = Mark(MarkKind.QUOTA, NOW, NOW + 9, model_id="m")


@pytest.mark.parametrize(
    ("pool", "availability", "recover"),
    [
        ([credential()], Availability.USABLE, None),
        ([credential(marks=(ONE_MODEL,))], Availability.USABLE, None),
        ([credential(marks=(WARNED,))], Availability.WARNED, None),
        ([credential(marks=(WARNED,)), credential("c2")], Availability.USABLE, None),
        ([credential(marks=(UNPAID,))], Availability.COOLING, NOW + 9),
        ([credential(is_enabled=False)], Availability.DISABLED, None),
        ([credential(max_in_flight=1)], Availability.BUSY, None),
    ],
)
def test_each_provider_has_its_colour(
    pool: list[object], availability: Availability, recover: float | None
) -> None:
    found = snapshot_of(Pool.of(1, pool), TENANT, InFlight({"c1": 1}, {}), NOW)  # type: ignore[arg-type]  # a table's column
    (provider,) = found.providers
    assert (provider.availability, provider.recover_unix_s) == (availability, recover)


def test_equal_contents_have_equal_versions_and_others_have_others() -> None:
    pools = [
        [credential()],
        [credential("c2")],
        [credential(marks=(UNPAID,))],
        [credential(is_enabled=False)],
        [credential(), credential("c3", provider="q")],
    ]
    versions = [
        snapshot_of(Pool.of(n, pool), TENANT, NOBODY, NOW).version for n, pool in enumerate(pools)
    ]
    assert versions[0] == versions[1]
    assert len(set(versions)) == len(pools) - 1
    again = snapshot_of(Pool.of(99, pools[0]), TENANT, NOBODY, NOW + 1).version
    assert again == versions[0]


def test_a_tenant_sees_its_own_keys_plans_and_refusals_by_fingerprint() -> None:
    unknown = Mark(MarkKind.UNSUPPORTED, NOW, NOW + 60, model_id="m9")
    pool = Pool.of(
        1,
        [
            credential("own", installation_id=TENANT, marks=(unknown,)),
            credential("foreign", provider="q", installation_id="t2"),
            credential("plan", provider="r", kind=CredentialKind.CLAUDE_OAUTH, is_enabled=False),
        ],
    )
    found = snapshot_of(pool, TENANT, NOBODY, NOW)
    assert [one.provider for one in found.providers] == ["p", "r"]
    assert found.has_tenant_credentials
    assert found.providers[0].owners == (CredentialOwner.TENANT,)
    assert [(one.kind, one.status) for one in found.plans] == [
        (CredentialKind.CLAUDE_OAUTH, PlanStatus.UNAVAILABLE)
    ]
    assert [(one.model_id, one.fingerprint) for one in found.refusals] == [("m9", "f-own")]
    assert found.passed_over == ("f-plan",)
    assert "'own'" not in repr(found)


def test_a_warned_one_is_passed_over_only_beside_a_clean_one() -> None:
    warned, clean = credential("w", marks=(WARNED,)), credential("c")
    assert snapshot_of(Pool.of(1, [warned]), TENANT, NOBODY, NOW).passed_over == ()
    assert snapshot_of(Pool.of(1, [warned, clean]), TENANT, NOBODY, NOW).passed_over == ("f-w",)


def test_a_gateway_key_makes_its_tenant_exclusive() -> None:
    key = credential(
        installation_id=TENANT, kind=CredentialKind.GATEWAY, upstream_id_by_model=(("m", "x"),)
    )
    found = snapshot_of(Pool.of(1, [key, credential("v")]), TENANT, NOBODY, NOW)
    assert found.is_gateway_exclusive
    assert found.gateway_keys[0].upstream_id_by_model == (("m", "x"),)
    assert not snapshot_of(Pool.of(1, [key]), "t2", NOBODY, NOW).is_gateway_exclusive


def test_a_record_permits_what_no_hard_set_forbids() -> None:
    assert Eligibility().permits("m", "p")
    assert Eligibility(enabled_providers=frozenset({"p"})).permits("m", "p")
    assert not Eligibility(enabled_providers=frozenset()).permits("m", "p")
    assert not Eligibility(excluded_providers=frozenset({"p"})).permits("m", "p")
    assert not Eligibility(excluded_models=frozenset({"m"})).permits("m", "p")
    assert not Eligibility(excluded_bindings=frozenset({("m", "p")})).permits("m", "p")
    exclusive = Eligibility(
        is_gateway_exclusive=True,
        gateway_models=frozenset({("m", "p")}),
        excluded_providers=frozenset({"p"}),
    )
    assert exclusive.permits("m", "p")
    assert not exclusive.permits("m2", "p")
