"""Canonical parameters as members of a chat request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.levels import fitted_limit
from services.domain.wire.model import TransformAction
from services.domain.wire.openai_chat.effort import wished_effort
from services.domain.wire.openai_chat.refusals import (
    MAX_STOP_SEQUENCES,
    is_refused,
    output_limit_key,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from services.domain.wire.model import Request, Target
    from services.domain.wire.openai_chat.render import Rendering

_Members = dict[str, object]


def parameter_members(request: Request, target: Target, rendering: Rendering) -> _Members:
    """Return the parameters to send; what the target would refuse is left out and recorded."""
    return unrefused(_wished(request, target, rendering), target, rendering)


def unrefused(
    wished: Iterable[tuple[str, object]], target: Target, rendering: Rendering
) -> _Members:
    """Return the ``wished`` members without those that the target would refuse, on record."""
    members: _Members = {}
    for key, value in wished:
        if is_refused(key, value, target):
            rendering.note("refused_parameter", TransformAction.DROPPED, key)
        else:
            members[key] = value
    return members


def _wished(request: Request, target: Target, rendering: Rendering) -> Iterator[tuple[str, object]]:
    limit = fitted_limit(request, target, rendering, is_native=rendering.is_native)
    if limit is not None:
        yield output_limit_key(target), limit
    stop = request.limits.stop
    if len(stop) > MAX_STOP_SEQUENCES:
        rendering.note("stop", TransformAction.CLAMPED, "stop")
    if stop:
        yield "stop", list(stop[:MAX_STOP_SEQUENCES])
    if request.limits.n is not None and (request.limits.n != 1 or rendering.is_native):
        yield "n", request.limits.n
    yield from _sampling(request, target, rendering)
    effort = wished_effort(request, target, rendering, "reasoning_effort")
    if effort is not None:
        yield "reasoning_effort", effort
    yield from _output(request, target, rendering)


def _sampling(
    request: Request, target: Target, rendering: Rendering
) -> Iterator[tuple[str, object]]:
    sampling = request.sampling
    plain: tuple[tuple[str, object], ...] = (
        ("temperature", sampling.temperature),
        ("top_p", sampling.top_p),
        ("seed", sampling.seed),
        ("frequency_penalty", sampling.frequency_penalty),
        ("presence_penalty", sampling.presence_penalty),
        ("logprobs", sampling.logprobs),
        ("top_logprobs", sampling.top_logprobs),
    )
    for key, value in plain:
        if value is not None:
            yield key, value
    if sampling.logit_bias is not None:
        yield "logit_bias", orjson.Fragment(sampling.logit_bias)
    if sampling.top_k is None:
        return
    if target.is_vendor and not rendering.is_native:
        rendering.note("top_k", TransformAction.DROPPED, "top_k")
    else:
        yield "top_k", sampling.top_k


def _output(request: Request, target: Target, rendering: Rendering) -> Iterator[tuple[str, object]]:
    output = request.output
    native = dict(request.native) if rendering.is_native else {}
    if "response_format" in native:
        yield "response_format", orjson.Fragment(native["response_format"])
    elif output.kind == "json_object":
        yield "response_format", {"type": "json_object"}
    elif output.kind == "json_schema" and not target.facts.structured_output:
        rendering.note("json_schema", TransformAction.DROPPED, "response_format")
    elif output.kind == "json_schema":
        told: _Members = {"name": output.name or "answer"}
        if output.schema:
            told["schema"] = orjson.Fragment(output.schema)
        if output.strict is not None:
            told["strict"] = output.strict
        yield "response_format", {"type": "json_schema", "json_schema": told}
    if not output.verbosity:
        return
    if target.is_vendor or rendering.is_native:
        yield "verbosity", output.verbosity
    else:
        rendering.note("verbosity", TransformAction.DROPPED, "verbosity")
