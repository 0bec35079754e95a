"""What an image has installed, told from our requirements and those of what they bring."""

from __future__ import annotations

import functools
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata

from packaging.requirements import Requirement

from tests.integration.compose.composition import ROOT

OURS = frozenset({"gateway", "pointsman", "services", "tests"})


def command(extras: frozenset[str], *arguments: str) -> tuple[str, ...]:
    """Return the command line of `pointsman` as in an image with these extras."""
    lacking = json.dumps(sorted(refused(extras)))
    return (sys.executable, "-m", "tests.integration.compose.lean", lacking, *arguments)


@functools.cache
def refused(extras: frozenset[str]) -> frozenset[str]:
    """Return the packages of this environment that an image with these extras does not have."""
    there = installed(extras)
    return frozenset(
        package
        for package, owners in metadata.packages_distributions().items()
        if package not in OURS and there.isdisjoint(map(_normal, owners))
    )


def installed(extras: Iterable[str]) -> frozenset[str]:
    """Return the distributions that our requirements with these extras bring, all the way down."""
    seen: set[tuple[str, str]] = set()
    waiting = [("pointsman", extra) for extra in ("", *extras)]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for line in _needs(name, extra):
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                waiting += [(_normal(wanted.name), more) for more in ("", *wanted.extras)]
    return frozenset(name for name, _ in seen)


def extras_of_ours() -> Mapping[str, Sequence[str]]:
    """Return the requirements behind each extra."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {"": found["dependencies"], **found["optional-dependencies"]}


def _needs(name: str, extra: str) -> Sequence[str]:
    if name == "pointsman":
        return extras_of_ours()[extra]
    try:
        return metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []  # wanted on another system only


def _normal(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
