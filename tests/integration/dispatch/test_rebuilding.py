"""What is built anew for every attempt: endpoints' own wishes, and signed reasoning."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from services.dispatch.model.enums import AttemptCause
from services.dispatch.model.plan import Order
from services.dispatch.server.walk import Walk
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from tests.fakes.upstream import Fault
from tests.integration.dispatch.harness import (
    ANTHROPIC,
    CHAT,
    MODEL,
    Stand,
    rescue,
    rescued_by,
    standing,
)

WISH = {"provider": {"sort": "throughput"}}


def binding(provider: str, **more: object) -> dict[str, object]:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
    return {"provider": provider, "upstream_id": f"{provider}-model", **price, **more}


async def walked(stand: Stand, order: Order, *bindings: dict[str, object]) -> None:
    """Walk with a catalog whose model has these bindings."""
    catalog = build_catalog([{"models": [{"id": MODEL, "bindings": list(bindings)}]}])
    stage = replace(stand.stage(), catalog=catalog)
    walk = Walk(stage, order, jitter=lambda: 0.0, time_left_s=lambda: None)
    assert [part async for part in walk.parts()]


@pytest.mark.spec("DSP-200", "DSP-201")
@pytest.mark.parametrize("client", [ANTHROPIC, WireFamily.GEMINI])
async def test_the_wishes_of_an_endpoint_go_to_no_other(client: WireFamily) -> None:
    async with standing(CHAT, CHAT) as stand:
        stand.providers["p1"][0].script(Fault(status=503))
        order = stand.order(family=client)
        await walked(stand, order, binding("p1", extra_members=WISH), binding("p2"))
        first, second = (fake.requests[0].json for fake, _ in stand.providers.values())
        assert first["provider"] == WISH["provider"]
        assert "provider" not in second


@pytest.mark.spec("DSP-201")
async def test_the_wishes_of_an_endpoint_are_no_edit_of_a_clients_own_body() -> None:
    async with standing(CHAT) as stand:
        await walked(stand, stand.order(family=CHAT), binding("p1", extra_members=WISH))
        assert "provider" not in stand.providers["p1"][0].requests[0].json


@pytest.mark.spec("DSP-202", "HND-83")
@pytest.mark.parametrize("was_switched", [False, True])
async def test_reasoning_signed_for_another_model_is_removed_for_the_model_of_the_attempt(
    was_switched: bool,
) -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.providers["p1"][0].script(Fault(status=404))
        order = stand.order("p1", change=rescued_by(rescue(AttemptCause.SIBLING, "p2")))
        thought = {"type": "thinking", "thinking": "hm", "signature": "signed-by-somebody"}
        said = [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [thought, {"type": "text", "text": "hi"}]},
            {"role": "user", "content": "go on"},
        ]
        body = orjson.dumps({**orjson.loads(order.body), "messages": said})
        plan = replace(order.plan, is_model_switched=was_switched)
        await stand.run(replace(order, body=body, plan=plan))
        bodies = [fake.requests[0].body for fake, _ in stand.providers.values()]
        assert [b"signed-by-somebody" in each for each in bodies] == [not was_switched, False]
