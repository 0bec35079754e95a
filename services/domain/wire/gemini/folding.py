"""References and intersections of JSON Schema written out, for dialects that know neither."""

from __future__ import annotations

from services.domain.wire.subschemas import DEFINITIONS, Json, with_inner

_MAX_COPIED = 200_000
"""Schemas, and characters and items in them, that are written out for references."""


class _Budget:
    """How much may still be written out for references: nested ones multiply."""

    def __init__(self) -> None:
        self.left = _MAX_COPIED

    def spend(self, schema: Json) -> bool:
        """Take the size of one schema; whether it was there to be taken."""
        self.left -= 1 + sum(len(v) for v in schema.values() if isinstance(v, str | list))
        return self.left >= 0


def inlined(root: Json) -> Json:
    """Return ``root`` with local references replaced by copies of what they name.

    What stands beside a reference is dropped but for a description. A reference that is remote,
    leads nowhere or leads into itself becomes the schema that allows anything. Definitions, which
    nothing names any more, are left out.
    """
    return _inlined(root, root, (), _Budget())


def _inlined(schema: Json, root: Json, trail: tuple[str, ...], budget: _Budget) -> Json:
    if trail and not budget.spend(schema):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _copy(schema, reference, root, trail, budget)
    told = {key: value for key, value in schema.items() if key not in DEFINITIONS}
    return with_inner(told, lambda inner: _inlined(inner, root, trail, budget))


def _copy(
    schema: Json, reference: str, root: Json, trail: tuple[str, ...], budget: _Budget
) -> Json:
    found = _target(reference, root)
    if found is None or reference in trail:
        copied: Json = {}
    else:
        copied = _inlined(found, root, (*trail, reference), budget)
    words = schema.get("description")
    if isinstance(words, str) and "description" not in copied:
        return {**copied, "description": words}
    return copied


def _target(reference: str, root: Json) -> Json | None:
    if not reference.startswith("#"):
        return None
    at: object = root
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        at = at.get(name) if isinstance(at, dict) else None
    return at if isinstance(at, dict) else None


def intersected(schema: Json) -> Json:
    """Return ``schema`` with the branches of ``allOf`` merged into it.

    Properties and required names add up; of any other keyword that several name, the first counts.
    """
    branches = schema.get("allOf")
    if not isinstance(branches, list):
        return schema
    told = {key: value for key, value in schema.items() if key != "allOf"}
    for branch in branches:
        if isinstance(branch, dict):
            _merge(told, intersected(branch))
    return told


def _merge(told: Json, branch: Json) -> None:
    for key, value in branch.items():
        before = told.get(key)
        if key == "properties" and isinstance(before, dict) and isinstance(value, dict):
            both = {name: _both(before[name], value[name]) for name in before.keys() & value.keys()}
            told[key] = {name: both.get(name, inner) for name, inner in {**value, **before}.items()}
        elif key == "required" and isinstance(before, list) and isinstance(value, list):
            told[key] = list(dict.fromkeys(n for n in [*before, *value] if isinstance(n, str)))
        elif key == "enum" and isinstance(before, list) and isinstance(value, list):
            told[key] = _common(before, value)
        else:
            told.setdefault(key, value)


def _both(first: object, second: object) -> object:
    if not isinstance(first, dict) or not isinstance(second, dict):
        return first
    merged = dict(first)
    _merge(merged, second)
    return merged


def _common(first: list[object], second: list[object]) -> list[object]:
    """Return the words of ``first`` that ``second`` has too; where there are none, all of them."""
    if any(isinstance(word, dict | list) for word in (*first, *second)):
        return first
    words = set(second)
    return [word for word in first if word in words] or first
