"""A caller's knobs for the scorer, read from headers. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gateway.model.action import Knobs
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "x-router-routing-"
DIAL_HEADER = f"{PREFIX}quality-bias"
ALPHA_HEADER = f"{PREFIX}alpha"
SPEED_HEADER = f"{PREFIX}speed-weight"
OUTPUT_COST_HEADER = f"{PREFIX}output-cost-ratio"
OUTPUT_TOKENS_HEADER = f"{PREFIX}expected-output-tokens"
VERBOSITY_HEADER = f"{PREFIX}per-model-verbosity"

MOST_OUTPUT_COST_RATIO = 10
MOST_OUTPUT_TOKENS = 100_000

_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?")
_WHOLE = re.compile(r"[0-9]{1,20}")
_WORDS = {"true": True, "false": False}


def knobs_of(headers: Mapping[str, str]) -> Knobs:
    """Return the knobs that a caller sends; an empty header says nothing.

    Raises:
        RouterError: INVALID_ROUTING_KNOBS, naming the header and what it takes.
    """
    output_tokens = _number(headers, OUTPUT_TOKENS_HEADER, MOST_OUTPUT_TOKENS, is_whole=True)
    return Knobs(
        alpha=_number(headers, ALPHA_HEADER, 1),
        quality_bias=_number(headers, DIAL_HEADER, 1),
        speed_weight=_number(headers, SPEED_HEADER, 1),
        output_cost_ratio=_number(headers, OUTPUT_COST_HEADER, MOST_OUTPUT_COST_RATIO),
        expected_output_tokens=None if output_tokens is None else int(output_tokens),
        is_verbosity_per_model=_word(headers, VERBOSITY_HEADER),
    )


def _number(
    headers: Mapping[str, str], name: str, most: float, *, is_whole: bool = False
) -> float | None:
    value = headers.get(name, "").strip()
    if not value:
        return None
    form = _WHOLE if is_whole else _NUMBER
    if form.fullmatch(value) is None or float(value) > most:
        raise _bad(name, f"a {'whole ' if is_whole else ''}number from 0 to {most}")
    return float(value)


def _word(headers: Mapping[str, str], name: str) -> bool | None:
    value = headers.get(name, "").strip()
    if not value:
        return None
    if value not in _WORDS:
        raise _bad(name, "true or false")
    return _WORDS[value]


def _bad(name: str, what: str) -> RouterError:
    return RouterError(
        Reason.INVALID_ROUTING_KNOBS, f"{name} must be {what}", metadata={"field": name}
    )
