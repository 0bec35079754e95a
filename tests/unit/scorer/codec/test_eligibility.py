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


def test_a_record_is_known_again_whenever_it_was_made_and_no_other_for_it() -> None:
    first = pb.EligibilityRecord(record_id="r", installation_id="i")
    later, other = pb.EligibilityRecord(), pb.EligibilityRecord()
    later.CopyFrom(first)
    later.create_time.FromSeconds(1_000)
    other.CopyFrom(first)
    other.installation_id = "j"
    assert eligibility(later) is eligibility(first)
    assert later.create_time.seconds == 1_000, "what was asked stays as it came"
    assert eligibility(other).content != eligibility(first).content
