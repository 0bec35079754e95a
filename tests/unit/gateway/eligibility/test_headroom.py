"""What accounts have left reaches whoever reads the eligibility record, as credentials said it."""

from __future__ import annotations

import pytest
from pointsman.common.v1 import eligibility_pb2
from pointsman.credentials.v1 import credentials_pb2

from gateway.codec.answers import snapshot_of
from gateway.codec.eligibility import eligibility_record
from gateway.eligibility import freeze
from tests.unit.gateway import facts


@pytest.mark.spec("CRD-114")
def test_headroom_passes_through_the_gateway() -> None:
    said = [
        eligibility_pb2.ProviderEligibility(
            provider="p1",
            availability=eligibility_pb2.PROVIDER_AVAILABILITY_USABLE,
            headroom_ratio=0.35,
            family_headrooms=[
                eligibility_pb2.FamilyHeadroom(family="opus", headroom_ratio=0.0),
                eligibility_pb2.FamilyHeadroom(family="sonnet"),
            ],
        ),
        eligibility_pb2.ProviderEligibility(
            provider="p2", availability=eligibility_pb2.PROVIDER_AVAILABILITY_USABLE
        ),
    ]
    snapshot = snapshot_of(credentials_pb2.EligibilitySnapshot(version="v", providers=said))
    catalog = facts.catalog(facts.row("m", "p1", "p2"))
    policy = facts.policy(configured_providers=("p1", "p2"))
    record = freeze(facts.question(snapshot=snapshot), policy, catalog)
    assert list(eligibility_record(record).enabled_providers.providers) == said
