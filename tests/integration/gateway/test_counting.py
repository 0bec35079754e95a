"""Counting tokens without an answer: all that a provider would read is counted."""

from __future__ import annotations

import pytest

from tests.integration.gateway.conftest import Stack

ASK = {"model": "claude-large", "messages": [{"role": "user", "content": "hello"}]}
WORDS = "word " * 600
TOOLS = [
    {"name": f"tool_{at}", "description": "Does it. " * 20, "input_schema": {"type": "object"}}
    for at in range(3)
]


async def counted(stack: Stack, **more: object) -> int:
    url = "/v1/messages/count_tokens"
    async with stack.session.post(url, json={**ASK, **more}) as answer:
        told = await answer.json()
    count = told["input_tokens"]
    assert isinstance(count, int)
    return count


@pytest.mark.spec("XLT-9")
async def test_instructions_and_tools_are_counted_where_no_provider_counts(stack: Stack) -> None:
    """B-101."""
    stack.dispatch.counted = None
    plain = await counted(stack)
    with_system = await counted(stack, system=WORDS)
    with_blocks = await counted(stack, system=[{"type": "text", "text": WORDS}])
    with_both = await counted(stack, system=WORDS, tools=TOOLS)
    assert with_system >= plain + 500
    assert with_blocks >= plain + 500
    assert with_both >= with_system + 100


async def test_the_provider_counts_a_prompt_that_fits_no_window(stack: Stack) -> None:
    stack.dispatch.counted = 4_242
    assert await counted(stack, model="tiny", system=WORDS) == 4_242
