"""Canonical parameters as members of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from services.domain.wire.levels import fitted_limit
from services.domain.wire.model import TransformAction, UnbuildableError
from services.domain.wire.openai_chat.effort import wished_effort
from services.domain.wire.openai_chat.parameters import unrefused
from services.domain.wire.openai_chat.refusals import is_refused
from services.domain.wire.openai_responses.knobs import LOGPROBS
from services.domain.wire.reading import load, mapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.domain.wire.model import Request, Target
    from services.domain.wire.openai_chat.render import Rendering

MIN_OUTPUT_TOKENS = 16
"""Least output limit that the dialect takes."""

ENCRYPTED_REASONING = "reasoning.encrypted_content"
"""Member of ``include`` that asks for reasoning state: nothing is stored for foreign turns."""

_Members = dict[str, object]


def parameter_members(request: Request, target: Target, rendering: Rendering) -> _Members:
    """Return the parameters to send; what the target would refuse is left out and recorded.

    Raises:
        UnbuildableError: more than one answer is asked for.
    """
    if (request.limits.n or 1) > 1:
        raise UnbuildableError("n", "the Responses dialect gives one answer")
    members = unrefused(_wished(request, target, rendering), target, rendering)
    if not rendering.is_native:
        _note_unknown(request, rendering)
    return members


def _wished(request: Request, target: Target, rendering: Rendering) -> Iterator[tuple[str, object]]:
    sampling = request.sampling
    is_native, least = rendering.is_native, MIN_OUTPUT_TOKENS
    name = "max_output_tokens"
    limit = fitted_limit(request, target, rendering, name, least=least, is_native=is_native)
    if limit is not None:
        yield name, limit
    if sampling.temperature is not None:
        yield "temperature", sampling.temperature
    if sampling.top_p is not None:
        yield "top_p", sampling.top_p
    if sampling.top_logprobs is not None:
        yield "top_logprobs", sampling.top_logprobs
    reasoning = _reasoning(request, target, rendering)
    if reasoning:
        yield "reasoning", reasoning
    text = _text(request, target, rendering)
    if text is not None:
        yield "text", text
    if not rendering.is_native:
        yield "store", False
        if include := _include(request, target):
            yield "include", include


def _include(request: Request, target: Target) -> list[str]:
    include = [] if target.facts.reasoning == "none" else [ENCRYPTED_REASONING]
    if request.sampling.logprobs and not is_refused("logprobs", True, target):
        include.append(LOGPROBS)
    return include


def _reasoning(request: Request, target: Target, rendering: Rendering) -> _Members:
    if target.facts.reasoning == "none":
        if request.reasoning.mode not in ("unset", "off"):
            rendering.note("refused_parameter", TransformAction.DROPPED, "reasoning")
        return {}
    raw = dict(request.native).get("reasoning") if rendering.is_native else None
    own = dict(mapping(load(raw))) if raw is not None else {}
    effort = wished_effort(request, target, rendering, "reasoning.effort")
    if effort is not None:
        own["effort"] = effort
    if not rendering.is_native and request.reasoning.mode not in ("unset", "off"):
        own["summary"] = "auto"
    return own


def _text(request: Request, target: Target, rendering: Rendering) -> object | None:
    native = dict(request.native) if rendering.is_native else {}
    if "text" in native:
        return orjson.Fragment(native["text"])
    output = request.output
    members: _Members = {}
    if output.kind == "json_object":
        members["format"] = {"type": "json_object"}
    elif output.kind == "json_schema" and not target.facts.structured_output:
        rendering.note("json_schema", TransformAction.DROPPED, "text.format")
    elif output.kind == "json_schema":
        form: _Members = {"type": "json_schema", "name": output.name or "answer"}
        form["schema"] = orjson.Fragment(output.schema or b"{}")
        if output.strict is not None:
            form["strict"] = output.strict
        members["format"] = form
    if output.verbosity and (target.is_vendor or rendering.is_native):
        members["verbosity"] = output.verbosity
    elif output.verbosity:
        rendering.note("verbosity", TransformAction.DROPPED, "text.verbosity")
    return members or None


def _note_unknown(request: Request, rendering: Rendering) -> None:
    """Record the knobs for which this dialect has no member."""
    sampling = request.sampling
    knobs: tuple[tuple[str, object], ...] = (
        ("stop", request.limits.stop or None),
        ("top_k", sampling.top_k),
        ("seed", sampling.seed),
        ("frequency_penalty", sampling.frequency_penalty),
        ("presence_penalty", sampling.presence_penalty),
        ("logit_bias", sampling.logit_bias),
    )
    for key, value in knobs:
        if value is not None:
            rendering.note("unknown_parameter", TransformAction.DROPPED, key)
