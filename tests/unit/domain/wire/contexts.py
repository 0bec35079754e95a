"""What encoders of answers need from outside, in tests."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from services.domain.wire.model import RenderContext

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Tool


def context(
    tools: tuple[Tool, ...] = (),
    upstream: WireFamily | None = None,
    *,
    is_usage_wanted: bool = True,
    is_reasoning_wanted: bool = True,
) -> RenderContext:
    """Return a context with a fixed clock and counted ids."""
    numbers = itertools.count(1)
    return RenderContext(
        model_id="routed-model",
        created_unix_s=1_700_000_000,
        new_id=lambda prefix: f"{prefix}{next(numbers)}",
        estimated_input_tokens=11,
        is_usage_wanted=is_usage_wanted,
        is_reasoning_wanted=is_reasoning_wanted,
        tools=tools,
        upstream_family=upstream,
    )
