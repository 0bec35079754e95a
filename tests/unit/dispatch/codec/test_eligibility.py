"""What a record permits does not depend on its id and time, and on all else of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

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


@given(records(), st.text(max_size=200), st.integers(0, 999_999_999))
def test_a_record_of_another_id_and_time_is_not_read_anew(
    drawn: Drawn, record_id: str, nanos: int
) -> None:
    first = decoded(drawn.message, "i", "eligibility")
    drawn.message.record_id = record_id
    drawn.message.create_time.nanos = nanos
    again = decoded(drawn.message, "i", "eligibility")
    assert again.gateway_models is first.gateway_models
