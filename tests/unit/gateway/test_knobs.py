from __future__ import annotations

import math
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.codec.deciding import score_request
from gateway.knobs import PREFIX, knobs_of
from gateway.model.action import AS_TRAINED, Knobs
from gateway.model.decision import Prompt
from services.domain.errors import Reason, RouterError
from tests.unit.gateway.deciding.made import action, record

RANGES = {
    "quality-bias": 1,
    "alpha": 1,
    "speed-weight": 1,
    "output-cost-ratio": 10,
    "expected-output-tokens": 100_000,
}
ALL = {
    "alpha": "0.75",
    "speed-weight": " 0.25 ",
    "output-cost-ratio": "10",
    "expected-output-tokens": "1200",
    "per-model-verbosity": "false",
    "quality-bias": "0.9",
}


BODY = orjson.dumps({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]})


def sent(values: dict[str, str]) -> dict[str, str]:
    return {f"{PREFIX}{name}": value for name, value in values.items()}


def refused(name: str, value: str) -> RouterError:
    with pytest.raises(RouterError) as caught:
        knobs_of(sent({name: value}))
    return caught.value


@pytest.mark.spec("TRN-79")
def test_each_header_turns_its_own_knob() -> None:
    assert knobs_of(sent(ALL)) == Knobs(
        0.75, 0.25, 10.0, 1200, is_verbosity_per_model=False, quality_bias=0.9
    )
    assert knobs_of({}) == knobs_of(sent(dict.fromkeys(ALL, " "))) == AS_TRAINED
    assert knobs_of(sent({"alpha": "0"})) == Knobs(alpha=0.0)


@pytest.mark.spec("TRN-79")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e3", "0x1", "100001", "yes", "1,5", "٣"])
def test_what_is_out_of_range_is_refused_and_named(name: str, value: str) -> None:
    error = refused(name, value)
    assert error.reason is Reason.INVALID_ROUTING_KNOBS
    assert error.metadata["field"] == f"{PREFIX}{name}"
    assert f"{PREFIX}{name} must be" in error.message


@pytest.mark.spec("TRN-79")
def test_words_and_parts_of_tokens_are_refused_where_they_mean_nothing() -> None:
    refused("per-model-verbosity", "True")
    refused("expected-output-tokens", "10.5")
    refused("alpha", "true")


@pytest.mark.spec("TRN-79")
@given(st.sampled_from(sorted(RANGES)), st.integers(0, 200_000), st.integers(0, 999))
def test_a_number_is_taken_exactly_within_its_range(name: str, whole: int, rest: int) -> None:
    value = str(whole) if name == "expected-output-tokens" else f"{whole}.{rest:03}"
    if float(value) > RANGES[name]:
        refused(name, value)
        return
    knobs = knobs_of(sent({name: value}))
    field = {"output-cost-ratio": "output_cost_ratio"}.get(name, name.replace("-", "_"))
    assert math.isclose(getattr(knobs, field), float(value))


@pytest.mark.spec("TRN-79", "SCO-3")
def test_the_scorer_is_told_what_the_caller_sent_and_nothing_else() -> None:
    made = action(BODY)
    asked = score_request(made, record(), Prompt("text", "first", 4), "cluster")
    assert not asked.HasField("knobs")
    assert not asked.wants_embedding
    knobs = Knobs(alpha=0.0, expected_output_tokens=7, quality_bias=0.25)
    turned = replace(made, caller=replace(made.caller, knobs=knobs))
    told = score_request(turned, record(), Prompt("text", "first", 4), "cluster").knobs
    assert {field.name for field, _ in told.ListFields()} == {
        "alpha_ratio",
        "expected_output_token_count",
        "quality_bias_ratio",
    }
    assert (told.alpha_ratio, told.expected_output_token_count) == (0.0, 7)
    assert told.quality_bias_ratio == 0.25
