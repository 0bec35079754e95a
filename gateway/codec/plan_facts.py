"""What a verdict of the planner rests on, as named facts for one log line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.planner.v1 import planner_pb2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from google.protobuf.message import Message

    from gateway.model.decision import Fact

_PARTS = {
    "inputs": "",
    "value_sum": "",
    "expected_value": "",
    "shadow": "shadow_",
}
"""Parts of an answer whose numbers are told, and what stands before their names."""
_UNITS = (("_micro_usd", "_micros"), ("_token_count", "_tokens"))


def plan_facts(message: planner_pb2.PlanActionResponse) -> tuple[tuple[str, Fact], ...]:
    """Return the facts in the order of the message; money only where it was computed."""
    facts: list[tuple[str, Fact]] = [
        ("economics", _word(planner_pb2.Economics.items(), message.economics)),
        ("is_ev_computed", message.is_ev_computed),
    ]
    for name, prefix in _PARTS.items():
        if message.HasField(name):
            facts.extend(_numbers(getattr(message, name), prefix))
    for side in ("pin_price", "fresh_price"):
        if message.HasField(side):
            facts.extend(_price(getattr(message, side), side))
    versions = message.versions
    facts.append(("catalog_version", versions.catalog_version))
    facts.append(("config_version", versions.config_version))
    return tuple(facts)


def _numbers(part: Message, prefix: str) -> Iterator[tuple[str, Fact]]:
    for field in part.DESCRIPTOR.fields:
        if field.message_type is not None or (field.has_presence and not part.HasField(field.name)):
            continue
        value = getattr(part, field.name)
        if field.enum_type is None:
            yield prefix + _shown(field.name), value
        else:
            names = [(known.name, known.number) for known in field.enum_type.values]
            yield prefix + field.name, _word(names, value)


def _word(names: Iterable[tuple[str, int]], number: int) -> str:
    """Return the name of an enum's value without the enum's own name."""
    by_number = {known: name for name, known in names}
    stem = by_number[0].removesuffix("UNSPECIFIED")
    return by_number[number].removeprefix(stem).lower() if number in by_number else "unknown"


def _price(price: planner_pb2.UsedPrice, side: str) -> Iterator[tuple[str, Fact]]:
    yield f"{side}_input_micros_per_mtok", price.price.input_micro_usd_per_mtok
    yield f"{side}_output_micros_per_mtok", price.price.output_micro_usd_per_mtok
    yield f"{side}_is_fallback", price.is_fallback
    if price.HasField("cost_factor"):
        yield f"{side}_cost_factor", price.cost_factor


def _shown(name: str) -> str:
    for unit, short in _UNITS:
        name = name.removesuffix(unit) + short if name.endswith(unit) else name
    return name
