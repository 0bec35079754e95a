"""The beta of an extended window: asked for where prompt and answer may need it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.dispatch.server.walk import Walk
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.anthropic.betas import LONG_CONTEXT
from tests.integration.dispatch.harness import ANTHROPIC, CHAT, MODEL, standing


@pytest.mark.spec("DSP-203")
@pytest.mark.parametrize("client", [ANTHROPIC, CHAT])
@pytest.mark.parametrize(
    ("prompt", "answer", "is_able", "is_asked"),
    [
        (132_000, 0, True, False),
        (132_001, 0, True, True),
        (132_001, 0, False, False),
        (100_000, 40_000, True, False),
        (100_000, 40_001, True, True),
    ],
)
async def test_it_is_asked_for_where_prompt_and_answer_may_outgrow_the_usual_one(
    client: WireFamily, prompt: int, answer: int, *, is_able: bool, is_asked: bool
) -> None:
    async with standing(ANTHROPIC) as stand:
        binding = {"provider": "p1", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
        row = {"id": MODEL, "extended_context": is_able, "bindings": [binding]}
        stage = replace(stand.stage(), catalog=build_catalog([{"models": [row]}]))
        order = replace(
            stand.order(family=client), estimated_input_tokens=prompt, max_output_tokens=answer
        )
        walk = Walk(stage, order, jitter=lambda: 0.0, time_left_s=lambda: None)
        _ = [part async for part in walk.parts()]
        (request,) = stand.providers["p1"][0].requests
        assert (LONG_CONTEXT in request.headers.get("anthropic-beta", "")) is is_asked
