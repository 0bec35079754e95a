"""Explaining, part by part: the session that is assumed, dialects, costs, and messages."""

from __future__ import annotations

from contextlib import nullcontext

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pointsman.common.v1 import action_pb2, binding_pb2, header_pb2
from pointsman.planner.v1 import planner_pb2
from pointsman.router.v1 import router_pb2
from pydantic import SecretStr

from gateway.codec import router as codec
from gateway.deciding.pinned import pin_cache
from gateway.explaining.assumed import assumed_memory
from gateway.model import InstallationId
from gateway.model.explained import AssumedPin
from gateway.routes.route import surface_of
from gateway.rpc.callers import token_of
from gateway.sessions.model import Address, CacheState
from gateway.sessions.pins import live_pin
from gateway.sessions.usage import last_use_of
from gateway.settings import GatewaySettings
from services.domain.errors import InvalidRequestError
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address as RequestAddress

NOW = 1_000_000.0
ADDRESS = Address(b"k" * 16, "default", InstallationId("inst"))


def test_without_a_pin_the_session_is_empty() -> None:
    memory = assumed_memory(ADDRESS, None, "cluster", NOW)
    assert memory.session.pin is None
    assert memory.session.uses == ()
    assert memory.is_known


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, CacheState.WARM),
        (CacheState.WARM, CacheState.WARM),
        (CacheState.COLD, CacheState.COLD),
        (CacheState.BROKEN, CacheState.BROKEN),
    ],
)
def test_an_assumed_pin_is_as_warm_as_it_is_said_to_be(
    said: CacheState | None, expected: CacheState
) -> None:
    session = assumed_memory(ADDRESS, AssumedPin("m", "p", cache=said), "cluster", NOW).session
    pin = live_pin(session, "cluster", NOW)
    assert pin is not None
    assert pin_cache(session, pin.choice, (), NOW) is expected
    assert pin_cache(session, pin.choice, ("",), NOW) is not CacheState.WARM


def test_a_pin_on_which_nothing_completed_has_no_use() -> None:
    assumed = AssumedPin("m", "p", has_completed_action=False)
    session = assumed_memory(ADDRESS, assumed, "cluster", NOW).session
    pin = live_pin(session, "cluster", NOW)
    assert pin is not None
    assert last_use_of(session, pin.choice) is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"model": "m", "max_tokens": 1, "messages": []}, WireFamily.ANTHROPIC),
        ({"model": "m", "system": "s", "messages": []}, WireFamily.ANTHROPIC),
        ({"model": "m", "messages": []}, WireFamily.OPENAI_CHAT),
        ({"max_tokens": 1, "messages": [{"role": "system"}]}, WireFamily.OPENAI_CHAT),
        ({"max_tokens": 1, "stream_options": {}, "messages": []}, WireFamily.OPENAI_CHAT),
        ([], WireFamily.ANTHROPIC),
        ({"model": "m", "input": "x"}, WireFamily.OPENAI_RESPONSES),
        ({"contents": [], "systemInstruction": "s"}, WireFamily.GEMINI),
        ({"contents": 1, "max_tokens": 1, "messages": []}, WireFamily.ANTHROPIC),
    ],
)
def test_a_dialect_shows_in_the_shape_of_a_body(body: object, expected: WireFamily) -> None:
    assert surface_of(orjson.dumps(body)) is expected


@given(st.binary(max_size=60))
def test_any_bytes_have_a_dialect(body: bytes) -> None:
    assert surface_of(body) in WireFamily


def _pin(**changes: object) -> planner_pb2.Pin:
    facts: dict[str, object] = {"binding": binding_pb2.BindingRef(model_id="m", provider="p")}
    return planner_pb2.Pin(**{**facts, **changes})  # type: ignore[arg-type]  # facts by name


def test_a_pin_is_read_with_all_that_it_says() -> None:
    pin = _pin(has_completed_action=True, cache_state=planner_pb2.CACHE_STATE_COLD, risk_ratio=0.5)
    found = codec.pin_of(router_pb2.RouteRequest(pin=pin))
    assert found == AssumedPin("m", "p", cache=CacheState.COLD, wire=pin.SerializeToString())
    assert codec.pin_of(router_pb2.RouteRequest()) is None


@pytest.mark.parametrize(
    ("pin", "field"),
    [
        (planner_pb2.Pin(), "pin.binding.model_id"),
        (_pin(binding=binding_pb2.BindingRef(model_id="m")), "pin.binding.provider"),
        (_pin(cache_state=planner_pb2.CACHE_STATE_UNSPECIFIED), "pin.cache_state"),
        (_pin(risk_ratio=1.5), "pin.risk_ratio"),
        (_pin(mean_risk_ratio=float("nan")), "pin.mean_risk_ratio"),
    ],
)
def test_a_pin_that_makes_no_sense_is_refused(pin: planner_pb2.Pin, field: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        codec.pin_of(router_pb2.RouteRequest(pin=pin))
    assert caught.value.violations[0].field == field


@pytest.mark.parametrize(
    "header",
    [
        ("Authorization", "Bearer x"),
        ("authorization", "Bearer x"),
        ("x-api-key", "x"),
        ("x-router-key", "x"),
        ("", "x"),
    ],
)
def test_headers_that_are_credentials_or_ill_spelled_are_refused(header: tuple[str, str]) -> None:
    field = header_pb2.HeaderField(name=header[0], value=header[1])
    with pytest.raises(InvalidRequestError) as caught:
        codec.headers_of(router_pb2.RouteRequest(headers=[field]))
    assert "Bearer" not in str(caught.value)


def test_headers_are_bounded() -> None:
    fields = [header_pb2.HeaderField(name=f"x-{n}", value="v") for n in range(65)]
    with pytest.raises(InvalidRequestError):
        codec.headers_of(router_pb2.RouteRequest(headers=fields))
    assert len(codec.headers_of(router_pb2.RouteRequest(headers=fields[:64]))) == 64


def test_a_dialect_must_be_said() -> None:
    with pytest.raises(InvalidRequestError):
        codec.surface_of(router_pb2.RouteRequest())
    chat = router_pb2.RouteRequest(surface=action_pb2.WIRE_FAMILY_OPENAI_CHAT, path_model="m")
    assert codec.surface_of(chat) is WireFamily.OPENAI_CHAT
    assert codec.address_of(chat) is None
    gemini = router_pb2.RouteRequest(surface=action_pb2.WIRE_FAMILY_GEMINI, path_model="m")
    assert codec.address_of(gemini) == RequestAddress("m")


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ([("authorization", "Bearer rk_1")], "rk_1"),
        ([("authorization", "bearer  rk_1 ")], "rk_1"),
        ([("authorization", "Basic rk_1")], ""),
        ([("x-other", "Bearer rk_1")], ""),
        (None, ""),
    ],
)
def test_only_a_bearer_token_names_a_caller(
    metadata: list[tuple[str, str | bytes]] | None, expected: str
) -> None:
    assert token_of(metadata) == expected


@pytest.mark.parametrize(
    ("key", "is_refused"), [("rk_" + "k" * 20, True), ("rk_" + "k" * 29, False)]
)
def test_a_router_service_that_others_can_reach_needs_a_long_key(
    key: str, is_refused: bool
) -> None:
    with pytest.raises(ValueError, match="rpc_listen") if is_refused else nullcontext():
        GatewaySettings(bootstrap_key=SecretStr(key), rpc_listen="0.0.0.0:50050")
