"""Eligibility records as the gateway sends them, with what each permits."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from pointsman.common.v1 import eligibility_pb2


@dataclass(frozen=True, slots=True)
class Drawn:
    """A record and what every reader of it has to find."""

    message: eligibility_pb2.EligibilityRecord
    providers: set[str] | None
    excluded_models: set[str]
    excluded_bindings: set[tuple[str, str]]
    is_exclusive: bool


_NAMES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=3)


@st.composite
def records(draw: st.DrawFn) -> Drawn:
    """Draw a record of installation ``i``; two that permit the same differ in id and time."""
    is_exclusive, models, providers = draw(st.tuples(st.booleans(), _NAMES, st.none() | _NAMES))
    message = eligibility_pb2.EligibilityRecord(
        record_id=draw(st.text(max_size=200)),
        installation_id="i",
        is_gateway_exclusive=is_exclusive,
    )
    nanos = draw(st.none() | st.integers(0, 999_999_999))
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
    return Drawn(
        message,
        None if providers is None else set(providers),
        {name for model in models for name in (model, f"{model}-needs")},
        {(model, "p") for model in models},
        is_exclusive,
    )
