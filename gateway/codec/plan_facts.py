"""What a verdict of the planner rests on, as named facts for one log line."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from pointsman.planner.v1 import planner_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from google.protobuf.message import Message

    from gateway.model.decision import Fact

PREFIX = "planner_"
"""Begins the name of each fact in the line of an action."""
_UNITS = (("_micro_usd", "_micros"), ("_token_count", "_tokens"))


class _Numbers:
    """Reads the numbers of one kind of message; what they are called is found once."""

    def __init__(self, kind: type[Message], prefix: str = "") -> None:
        fields = [field for field in kind.DESCRIPTOR.fields if field.message_type is None]
        self._read = operator.attrgetter(*(field.name for field in fields))
        shown = [f"{PREFIX}{prefix}{_shown(field.name)}" for field in fields]
        self._names = shown
        self._words = [
            (name, _words((known.name, known.number) for known in field.enum_type.values))
            for name, field in zip(shown, fields, strict=True)
            if field.enum_type is not None
        ]
        self._optional = [
            (name, field.name)
            for name, field in zip(shown, fields, strict=True)
            if field.has_presence
        ]

    def add(self, message: Message, facts: dict[str, Fact]) -> None:
        """Add the numbers that are there, in the order of the message."""
        facts.update(zip(self._names, self._read(message), strict=True))
        for name, words in self._words:
            facts[name] = words.get(facts[name], "unknown")
        for name, field in self._optional:
            if not message.HasField(field):
                del facts[name]


def plan_facts(message: planner_pb2.PlanActionResponse) -> dict[str, Fact]:
    """Return the facts in the order of the message; money only where it was computed."""
    facts: dict[str, Fact] = {
        f"{PREFIX}economics": _ECONOMICS.get(message.economics, "unknown"),
        f"{PREFIX}is_ev_computed": message.is_ev_computed,
    }
    for name, numbers in _PARTS.items():
        if message.HasField(name):
            numbers.add(getattr(message, name), facts)
    if message.HasField("pin_price"):
        _add_price(message.pin_price, _PIN, facts)
    if message.HasField("fresh_price"):
        _add_price(message.fresh_price, _FRESH, facts)
    versions = message.versions
    facts[f"{PREFIX}catalog_version"] = versions.catalog_version
    facts[f"{PREFIX}config_version"] = versions.config_version
    return facts


def _add_price(
    price: planner_pb2.UsedPrice, names: tuple[str, str, str, str], facts: dict[str, Fact]
) -> None:
    rates = price.price
    facts[names[0]] = rates.input_micro_usd_per_mtok
    facts[names[1]] = rates.output_micro_usd_per_mtok
    facts[names[2]] = price.is_fallback
    if price.HasField("cost_factor"):
        facts[names[3]] = price.cost_factor


def _shown(name: str) -> str:
    """Return what a field is called in a line: units are shorter there."""
    for unit, short in _UNITS:
        name = name.removesuffix(unit) + short if name.endswith(unit) else name
    return name


def _words(names: Iterable[tuple[str, int]]) -> Mapping[Fact, str]:
    """Return the names of an enum's values without the enum's own name."""
    by_number = {number: name for name, number in names}
    stem = by_number[0].removesuffix("UNSPECIFIED")
    return {number: name.removeprefix(stem).lower() for number, name in by_number.items()}


def _price_names(side: str) -> tuple[str, str, str, str]:
    side = f"{PREFIX}{side}"
    rates = f"{side}_input_micros_per_mtok", f"{side}_output_micros_per_mtok"
    return (*rates, f"{side}_is_fallback", f"{side}_cost_factor")


_ECONOMICS = _words(planner_pb2.Economics.items())
_PARTS: Mapping[str, _Numbers] = {
    "inputs": _Numbers(planner_pb2.PlanInputs),
    "value_sum": _Numbers(planner_pb2.ValueSum),
    "expected_value": _Numbers(planner_pb2.ExpectedValue),
    "shadow": _Numbers(planner_pb2.ShadowSum, "shadow_"),
}
"""Parts of an answer whose numbers are told."""
_PIN, _FRESH = _price_names("pin_price"), _price_names("fresh_price")
