"""What the wire leaves out is not what it leaves empty."""

from __future__ import annotations

import pytest
from pointsman.common.v1 import eligibility_pb2 as pb

from services.scorer.codec.eligibility import eligibility


@pytest.mark.spec("SCO-2")
def test_no_set_of_providers_and_an_empty_one_are_told_apart() -> None:
    absent = pb.EligibilityRecord(record_id="r")
    empty = pb.EligibilityRecord(record_id="r", enabled_providers=pb.ProviderEligibilitySet())
    assert eligibility(absent).enabled_providers is None
    assert eligibility(empty).enabled_providers == frozenset()
