"""PlannerService over every transport."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from pointsman.common.v1 import action_pb2
from pointsman.planner.v1 import planner_pb2 as pb
from pointsman.planner.v1 import planner_pb2_grpc as rpc
from structlog.testing import capture_logs

from services.domain.catalog import build_catalog
from services.domain.errors import InvalidRequestError, Reason
from services.planner.build import build
from services.planner.model.question import Economics
from services.planner.settings import PlannerSettings
from services.runtime import status
from services.runtime.channel import Channel
from services.runtime.host import Bundle
from services.runtime.reloading import Edition
from services.runtime.settings import CommonSettings
from tests.contract.planner_requests import (
    PIN,
    digest_of_random_answers,
    price_row,
    ref,
    request,
)
from tests.contract.transports import Serve
from tests.fakes.clock import FakeClock

DEADLINE_S = 5.0
ROOT = Path(__file__).resolve().parents[2]


def no_peer(name: str) -> Channel:
    raise AssertionError(f"the planner calls nobody, least of all {name}")


def planner(settings: PlannerSettings | None = None) -> Bundle:
    return build(
        settings or PlannerSettings(),
        CommonSettings(),
        catalog=build_catalog([]),
        clock=FakeClock(),
        channel_to=no_peer,
    )


async def test_a_newer_catalog_is_that_of_later_calls(serve: Serve) -> None:
    bundle = planner()
    served = await serve(bundle)
    newer = build_catalog([{"schema": 1}])
    assert bundle.adopt is not None
    take_over = bundle.adopt(Edition(CommonSettings(), newer))
    before = bundle.info()["catalog_version"]
    assert before != newer.version
    take_over()
    assert bundle.info()["catalog_version"] == newer.version
    asked = request()
    asked.catalog_version = newer.version
    with capture_logs() as lines:
        await rpc.PlannerServiceStub(served.channel("gateway")).PlanAction(
            asked, timeout=DEADLINE_S
        )
    assert [line["is_own_catalog"] for line in lines if line["event"] == "plan_action"] == [True]


async def plan(
    serve: Serve, asked: pb.PlanActionRequest, settings: PlannerSettings | None = None
) -> pb.PlanActionResponse:
    stub = rpc.PlannerServiceStub((await serve(planner(settings))).channel("gateway"))
    answer = await stub.PlanAction(asked, timeout=DEADLINE_S)
    assert isinstance(answer, pb.PlanActionResponse)
    return answer


@pytest.mark.spec("PLN-4")
async def test_a_plan_states_everything_it_rests_on(serve: Serve) -> None:
    answer = await plan(serve, request())
    assert answer.verdict == pb.VERDICT_SWITCH
    assert answer.reason == pb.PLAN_REASON_VALUE_POSITIVE
    assert answer.economics == pb.ECONOMICS_VALUE
    assert answer.is_ev_computed
    assert not answer.HasField("expected_value")
    sums = answer.value_sum
    assert (sums.stay_micro_usd, sums.switch_micro_usd) == (255_000, 97_000)
    assert (sums.quality_micro_usd, sums.value_micro_usd) == (-18_400, 139_600)
    assert sums.switch_full_history_micro_usd == 97_000
    assert not sums.HasField("switch_with_summary_micro_usd")
    assert (sums.risk_basis, round(sums.mean_risk_gap, 9)) == (pb.RISK_BASIS_SCORER, -0.08)
    assert answer.shadow == pb.ShadowSum(
        stay_micro_usd=210_000,
        switch_micro_usd=88_000,
        saving_micro_usd=122_000,
        verdict=pb.VERDICT_SWITCH,
    )
    assert answer.pin_price == pb.UsedPrice(
        binding=ref(PIN),
        price=price_row(PIN, 5_000_000, 25_000_000).price,
        cache_read_multiplier=0.1,
        cache_write_multiplier=1.25,
    )
    assert answer.inputs == pb.PlanInputs(
        input_token_count=50_000,
        cacheable_prefix_token_count=40_000,
        is_prefix_known=True,
        cached_share_ratio=0.8,
        output_token_count=600,
        remaining_action_count=3,
        threshold_micro_usd=10_000,
        risk_price_micro_usd=100_000,
        persistence_ratio=0.2,
    )
    versions = answer.versions
    assert (versions.catalog_version, versions.config_version) == ("c1", "v1")
    assert versions.eligibility_id == "e1"


async def test_without_a_pin_the_pick_is_taken(serve: Serve) -> None:
    asked = request()
    asked.ClearField("pin")
    answer = await plan(serve, asked)
    assert answer.reason == pb.PLAN_REASON_NO_PIN
    assert not answer.is_ev_computed
    assert not answer.HasField("value_sum")
    assert not answer.HasField("shadow")
    assert not answer.HasField("pin_price")


async def test_settings_choose_the_rule_and_a_call_may_override_it(serve: Serve) -> None:
    settings = PlannerSettings(economics=Economics.LEGACY, expected_remaining_actions=1)
    asked = request()
    stub = rpc.PlannerServiceStub((await serve(planner(settings))).channel("gateway"))
    legacy = await stub.PlanAction(asked, timeout=DEADLINE_S)
    assert legacy.economics == pb.ECONOMICS_LEGACY
    assert legacy.expected_value.savings_micro_usd == 20_000
    assert (legacy.inputs.threshold_micro_usd, legacy.inputs.risk_price_micro_usd) == (1_000, 0)
    asked.overrides.economics = pb.ECONOMICS_CORRECTED
    asked.overrides.threshold_micro_usd = 158_001
    asked.overrides.remaining_action_count = 3
    corrected = await stub.PlanAction(asked, timeout=DEADLINE_S)
    assert corrected.expected_value.expected_value_micro_usd == 158_000
    assert corrected.reason == pb.PLAN_REASON_EV_NEGATIVE


async def test_a_missing_filter_differs_from_an_empty_one(serve: Serve) -> None:
    asked = request()
    asked.available_models.SetInParent()
    assert (await plan(serve, asked)).reason == pb.PLAN_REASON_PIN_MODEL_MISSING


Change = Callable[[pb.PlanActionRequest], object]
BAD: dict[str, Change] = {
    "fresh": lambda asked: asked.ClearField("fresh"),
    "action.action_id": lambda asked: setattr(asked.action, "action_id", "ann@example.com"),
    "action.session_key": lambda asked: asked.action.MergeFrom(
        action_pb2.ActionContext(action_id="a", session_key=b"short")
    ),
    "fresh.binding.model_id": lambda asked: asked.fresh.binding.ClearField("model_id"),
    "pin.binding.provider": lambda asked: asked.pin.binding.ClearField("provider"),
    "pin.cache_state": lambda asked: setattr(asked.pin, "cache_state", 0),
    "pin.tier": lambda asked: setattr(asked.pin, "tier", 0),
    "pin.risk_ratio": lambda asked: setattr(asked.pin, "risk_ratio", float("nan")),
    "fresh.mean_risk_ratio": lambda asked: setattr(asked.fresh, "mean_risk_ratio", 1.5),
    "fresh.leftover_prefix_token_count": lambda asked: setattr(
        asked.fresh, "leftover_prefix_token_count", -1
    ),
    "input_token_count": lambda asked: setattr(asked, "input_token_count", -1),
    "cacheable_prefix_token_count": lambda asked: setattr(
        asked, "cacheable_prefix_token_count", -1
    ),
    "output_token_count": lambda asked: setattr(asked, "output_token_count", 2**31),
    "prices[0].price": lambda asked: asked.prices[0].ClearField("price"),
    "prices[1].binding.model_id": lambda asked: asked.prices[1].binding.ClearField("model_id"),
    "prices[1].price.input_micro_usd_per_mtok": lambda asked: setattr(
        asked.prices[1].price, "input_micro_usd_per_mtok", -1
    ),
    "prices[0].price.cache_read_multiplier": lambda asked: setattr(
        asked.prices[0].price, "cache_read_multiplier", float("inf")
    ),
    "prices[0].price.cache_write_multiplier": lambda asked: setattr(
        asked.prices[0].price, "cache_write_multiplier", -0.1
    ),
    "prices[0].price.long_context.threshold_token_count": lambda asked: asked.prices[
        0
    ].price.long_context.SetInParent(),
    "cost_factors['m-mid']": lambda asked: asked.cost_factors.update({"m-mid": 1.01}),
    "cost_factors['m-top']": lambda asked: asked.cost_factors.update({"m-top": float("nan")}),
    "summary.cost_micro_usd": lambda asked: setattr(asked.summary, "cost_micro_usd", -1),
    "overrides.economics": lambda asked: setattr(asked.overrides, "economics", 0),
    "overrides.remaining_action_count": lambda asked: setattr(
        asked.overrides, "remaining_action_count", -1
    ),
    "overrides.persistence_ratio": lambda asked: setattr(
        asked.overrides, "persistence_ratio", -0.1
    ),
    "overrides.risk_price_micro_usd": lambda asked: setattr(
        asked.overrides, "risk_price_micro_usd", -1
    ),
    "catalog_version": lambda asked: asked.ClearField("catalog_version"),
    "config_version": lambda asked: asked.ClearField("config_version"),
}


@pytest.mark.spec("PLN-5")
async def test_a_field_out_of_range_is_refused_by_name(serve: Serve) -> None:
    stub = rpc.PlannerServiceStub((await serve(planner())).channel("gateway"))
    for field, change in BAD.items():
        asked = request()
        change(asked)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.PlanAction(asked, timeout=DEADLINE_S)
        error = status.error_of(caught.value)
        assert isinstance(error, InvalidRequestError), field
        assert error.reason is Reason.INVALID_REQUEST
        assert [violation.field for violation in error.violations] == [field]


async def test_values_of_a_later_contract_are_read_as_the_safe_ones(serve: Serve) -> None:
    asked = request()
    asked.pin.cache_state = 99  # type: ignore[assignment]  # a number that nobody knows yet
    asked.pin.tier = 99  # type: ignore[assignment]  # the same
    assert (await plan(serve, asked)).inputs.is_cold
    asked.overrides.economics = 99  # type: ignore[assignment]  # the same
    with pytest.raises(grpc.aio.AioRpcError):
        await plan(serve, asked)


async def test_amounts_beyond_64_bits_are_kept_within(serve: Serve) -> None:
    asked = request()
    asked.input_token_count = 2**31 - 1
    asked.overrides.remaining_action_count = 2**31 - 1
    for row in asked.prices:
        row.price.input_micro_usd_per_mtok = 2**63 - 1
    answer = await plan(serve, asked)
    assert answer.value_sum.stay_micro_usd == 2**63 - 1


async def test_only_the_gateway_and_named_callers_may_ask(serve: Serve) -> None:
    served = await serve(planner(PlannerSettings(callers=("tuning",))))
    for caller in ("gateway", "tuning"):
        stub = rpc.PlannerServiceStub(served.channel(caller))
        await stub.PlanAction(request(), timeout=DEADLINE_S)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await rpc.PlannerServiceStub(served.channel("dispatch")).PlanAction(
            request(), timeout=DEADLINE_S
        )
    assert status.error_of(caught.value).reason is Reason.CALLER_NOT_ALLOWED


@pytest.mark.spec("PLN-45")
async def test_each_decision_is_one_line_without_content(serve: Serve) -> None:
    asked = request()
    asked.action.CopyFrom(
        action_pb2.ActionContext(
            action_id="a-1",
            installation_id="i-1",
            session_key=bytes(range(16)),
            client_request_id="SENTINEL",
            user_id="SENTINEL",
        )
    )
    with capture_logs() as lines:
        await plan(serve, asked)
        asked.overrides.economics = pb.ECONOMICS_CORRECTED
        await plan(serve, asked)
    value, corrected = [line for line in lines if line["event"] == "plan_action"]
    assert value["verdict"] == "switch"
    assert value["reason"] == "value_positive"
    assert (value["input_tokens"], value["cached_share"], value["is_cold"]) == (50_000, 0.8, False)
    assert (value["remaining_actions"], value["threshold_micro_usd"]) == (3, 10_000)
    assert (value["pin_input_micro_usd_per_mtok"], value["pin_is_fallback"]) == (5_000_000, False)
    assert value["fresh_output_micro_usd_per_mtok"] == 5_000_000
    assert (value["shadow_verdict"], value["shadow_stay_micro_usd"]) == ("switch", 210_000)
    assert (value["catalog_version"], value["config_version"]) == ("c1", "v1")
    assert value["is_own_catalog"] is False
    assert (value["action_id"], value["session_hash"]) == ("a-1", "0001020304050607")
    assert (corrected["savings_micro_usd"], corrected["eviction_micro_usd"]) == (204_000, 46_000)
    assert "SENTINEL" not in repr(lines)


async def digest_elsewhere(seed: int, count: int) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.contract.planner_requests",
        str(seed),
        str(count),
        cwd=ROOT,
        env={"PYTHONPATH": ".:protos/gen", "PYTHONHASHSEED": "random"},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    return output.decode()


@pytest.mark.spec("PLN-44")
async def test_ten_thousand_requests_have_the_same_bytes_in_two_processes() -> None:
    elsewhere = await digest_elsewhere(7, 10_000)
    assert elsewhere == digest_of_random_answers(7, 10_000)
