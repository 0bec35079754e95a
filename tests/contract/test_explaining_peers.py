"""What an explanation asks of its peers: of a pin what its caller says, of a credential nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pointsman.common.v1 import binding_pb2
from pointsman.planner.v1 import planner_pb2

from gateway.adapters.explaining import PreviewClient, Recording
from gateway.model import BindingRef
from gateway.model.decision import PlanQuestion, Side
from gateway.model.explained import AssumedPin
from gateway.sessions.model import CacheState
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import ModelTier
from services.planner.build import build
from services.planner.settings import PlannerSettings
from services.runtime.channel import Channel
from services.runtime.clock import SystemClock
from services.runtime.host import Bundle
from services.runtime.settings import CommonSettings
from tests.contract.transports import Serve
from tests.unit.gateway.happenings import a_decision, an_action

TOKENS = 10_000
_CACHES = {
    CacheState.WARM: planner_pb2.CACHE_STATE_WARM,
    CacheState.COLD: planner_pb2.CACHE_STATE_COLD,
    CacheState.BROKEN: planner_pb2.CACHE_STATE_BROKEN,
}


def _catalog() -> Catalog:
    price = {"provider": "p", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 5.0}
    return build_catalog([{"models": [{"id": name, "bindings": [price]} for name in "ab"]}])


def _planner(channel_to: Callable[[str], Channel]) -> Bundle:
    return build(
        PlannerSettings(),
        CommonSettings(),
        catalog=_catalog(),
        clock=SystemClock(),
        channel_to=channel_to,
    )


def _nobody(_: str) -> Channel:
    raise AssertionError("the planner calls nobody")


def _pin(cache: CacheState | None, risk: float | None) -> AssumedPin:
    message = planner_pb2.Pin(
        binding=binding_pb2.BindingRef(model_id="a", provider="p"),
        has_completed_action=True,
        cache_state=_CACHES[cache] if cache is not None else None,
        risk_ratio=risk,
    )
    return AssumedPin("a", "p", cache=cache, wire=message.SerializeToString())


def _question(cache: CacheState) -> PlanQuestion:
    models = _catalog().models
    return PlanQuestion(
        pin=Side(BindingRef("a", "p", "a", 0), ModelTier.MID, risk=0.1),
        pin_cache=cache,
        has_completed_action=True,
        fresh=Side(BindingRef("b", "p", "b", 0), ModelTier.MID, risk=0.1),
        input_tokens=TOKENS,
        prefix_tokens=0 if cache is CacheState.BROKEN else 1,
        output_tokens=0,
        available_models=("a", "b"),
        prices=tuple(models[name].bindings[0] for name in "ab"),
        offer=None,
        risk_price_micros=None,
        catalog_version=_catalog().version,
        config_version="cfg",
        eligibility_id="",
    )


@pytest.mark.parametrize(
    ("cache", "is_prefix_known", "is_cold"),
    [
        (None, False, False),
        (CacheState.WARM, False, False),
        (CacheState.COLD, False, True),
        (CacheState.BROKEN, True, True),
    ],
)
async def test_the_planner_hears_of_the_pin_what_its_caller_says(
    serve: Serve, cache: CacheState | None, is_prefix_known: bool, is_cold: bool
) -> None:
    served = await serve(_planner(_nobody))
    channel = served.channel("gateway")
    recording = Recording(channel, channel, "cluster", _pin(cache, 0.9))
    answer = await recording.plan(an_action(), _question(cache or CacheState.WARM))
    assert answer is not None
    said = planner_pb2.PlanActionResponse.FromString(recording.working.plan)
    assert said.inputs.is_prefix_known is is_prefix_known
    assert said.inputs.is_cold is is_cold
    assert said.value_sum.risk_gap == pytest.approx(0.8)
    assert recording.working.score == b""


async def test_silence_of_a_peer_is_no_answer(serve: Serve) -> None:
    served = await serve(_planner(_nobody))
    recording = Recording(served.channel(), served.channel(), "cluster", None)
    action = an_action()
    # Nobody serves credentials there.
    preview = await PreviewClient(served.channel()).preview(action, a_decision(action))
    assert preview is None
    bad = replace(_question(CacheState.WARM), input_tokens=-1)
    assert await recording.plan(action, bad) is None
    assert recording.working.plan == b""
