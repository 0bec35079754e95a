"""What a record permits does not depend on its id and time, and on all else of it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pointsman.common.v1 import eligibility_pb2

from services.credentials.codec.eligibility import decode_record as decoded

NAMES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)


@given(
    record_id=st.text(max_size=200),
    nanos=st.none() | st.integers(0, 999_999_999),
    models=NAMES,
    providers=st.none() | NAMES,
    is_exclusive=st.booleans(),
)
def test_a_record_is_decoded_by_all_of_it_but_its_id_and_time(
    record_id: str,
    nanos: int | None,
    models: list[str],
    providers: list[str] | None,
    *,
    is_exclusive: bool,
) -> None:
    message = eligibility_pb2.EligibilityRecord(
        record_id=record_id, installation_id="i", is_gateway_exclusive=is_exclusive
    )
    if nanos is not None:
        message.create_time.nanos = nanos
    for model in models:
        message.excluded_models.add(model_id=model)
        message.requirement_excluded_models.add(model_id=f"{model}-needs")
        message.excluded_bindings.add(model_id=model, provider="p")
    if providers is not None:
        message.enabled_providers.SetInParent()
        for provider in providers:
            message.enabled_providers.providers.add(provider=provider)
    found = decoded(message, "i")
    assert found.enabled_providers == (None if providers is None else set(providers))
    assert found.excluded_models == {name for m in models for name in (m, f"{m}-needs")}
    assert found.excluded_bindings == {(model, "p") for model in models}
    assert found.is_gateway_exclusive == is_exclusive
