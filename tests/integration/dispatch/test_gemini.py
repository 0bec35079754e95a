"""Translated requests at an upstream of the Gemini dialect, over real sockets."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace

import orjson
import pytest
from aiohttp import web

from services.dispatch.model.enums import AttemptOutcome
from services.dispatch.ports import Endpoint
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.assemble import Assembler
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import StopReason, Text, ToolUse
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, Stand, standing
from tests.unit.domain.wire.gemini_cases import answer, call, frame, text

GEMINI = WireFamily.GEMINI
USAGE = {"promptTokenCount": 9, "candidatesTokenCount": 3}
CALL = call("f", {"a": 1})


@dataclass(slots=True)
class Vendor:
    """Answers as the vendor does; its base address is that of a fake without a version."""

    base_url: str = ""
    errors: list[tuple[int, object]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    bodies: list[dict[str, object]] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path_qs)
        self.bodies.append(await request.json())
        if self.errors:
            status, body = self.errors.pop(0)
            return web.json_response(body, status=status)
        if "alt=sse" not in request.query_string:
            whole = answer(text("hi"), CALL, finish="STOP", usageMetadata=USAGE)
            return web.json_response(whole)
        stream = frame(text("h")) + frame(text("i"), CALL)
        stream += frame(finish="STOP", usageMetadata=USAGE)
        return web.Response(body=stream, content_type="text/event-stream")


@contextlib.asynccontextmanager
async def vendor_stand(*others: WireFamily) -> AsyncIterator[tuple[Stand, Vendor]]:
    """Give a stand whose first provider speaks Gemini."""
    vendor = Vendor()
    app = web.Application()
    app.router.add_post("/{tail:.*}", vendor.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        vendor.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with standing(GEMINI, *others) as stand:
            endpoint = Endpoint("p1", GEMINI, vendor.base_url, is_vendor=True, header_timeout_s=5.0)
            stand.endpoints["p1"] = endpoint
            yield stand, vendor
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("family", [ANTHROPIC, CHAT])
@pytest.mark.parametrize("is_stream", [True, False])
async def test_a_translated_request_is_answered(family: WireFamily, is_stream: bool) -> None:
    async with vendor_stand() as (stand, vendor):
        found = await stand.run(stand.order(family=family, is_stream=is_stream))
        action = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
        assert vendor.asked == [f"/v1beta/models/p1-model:{action}"]
        assert vendor.bodies[0]["contents"] == [{"role": "user", "parts": [{"text": "hello"}]}]
        assert (found.head.family, found.tail.record.outcome) == (GEMINI, AttemptOutcome.SERVED)
        measured = found.tail.record.measured
        assert measured is not None
        assert (measured.usage.fresh_input, measured.usage.output) == (9, 3)
        codec = codec_for(GEMINI)
        if is_stream:
            decoder, assembler = codec.stream_decoder(), Assembler()
            assembler.feed([*decoder.feed(found.chunks), *decoder.finish()])
            response = assembler.response
        else:
            response = codec.decode_response(found.chunks)
        assert response is not None
        assert response.stop.reason is StopReason.TOOL_USE
        assert [type(block) for block in response.blocks] == [Text, ToolUse]


@pytest.mark.spec("DSP-31")
async def test_a_throttled_vendor_hops_and_a_malformed_answer_is_no_answer() -> None:
    slow = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}
    async with vendor_stand(CHAT) as (stand, vendor):
        vendor.errors.append((429, slow))
        found = await stand.run(stand.order())
        assert found.tail.record.binding.provider == "p2"
        vendor.errors.append((200, answer(finish="MALFORMED_FUNCTION_CALL")))
        found = await stand.run(stand.order(is_stream=False))
        assert found.missed[0].record.failure_class is FailureClass.BAD_RESPONSE
        assert found.tail.record.binding.provider == "p2"


@pytest.mark.spec("DSP-61")
@pytest.mark.parametrize(("names", "sent"), [((), ["VALIDATED", "AUTO"]), (("f",), ["VALIDATED"])])
async def test_a_clients_own_mode_is_given_up_once_or_shown_and_never_sent_twice(
    names: tuple[str, ...], sent: list[str]
) -> None:
    refusal = {"error": {"code": 400, "message": "bad mode", "status": "INVALID_ARGUMENT"}}
    config = {"mode": "VALIDATED", **({"allowedFunctionNames": names} if names else {})}
    async with vendor_stand() as (stand, vendor):
        order = stand.order(family=GEMINI, is_stream=False)
        asked = {
            **orjson.loads(order.body),
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "toolConfig": {"functionCallingConfig": config},
        }
        vendor.errors.append((400, refusal))
        found = await stand.run(replace(order, body=orjson.dumps(asked)))
        modes = [_mode_of(body) for body in vendor.bodies]
        assert modes == sent
        assert len(vendor.bodies) == len({orjson.dumps(body) for body in vendor.bodies})
        if names:
            assert found.unserved.fault.http_status == 400
        else:
            assert found.tail.dropped_feature == "VALIDATED"


def _mode_of(body: dict[str, object]) -> object:
    config = body["toolConfig"]
    assert isinstance(config, dict)
    return config["functionCallingConfig"]["mode"]
