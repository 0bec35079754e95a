"""What a record permits does not depend on its id and time, and on all else of it."""

from __future__ import annotations

from hypothesis import given

from services.dispatch.codec.common import eligibility as decoded
from tests.unit.eligibility_records import Drawn, records


@given(records())
def test_a_record_is_decoded_by_all_of_it_but_its_id_and_time(drawn: Drawn) -> None:
    found = decoded(drawn.message, "i", "eligibility")
    assert found.providers == drawn.providers
    assert found.excluded_models == drawn.excluded_models
    assert found.excluded_bindings == drawn.excluded_bindings
    assert found.is_gateway_exclusive == drawn.is_exclusive
    assert found.sealed == drawn.message.SerializeToString()
