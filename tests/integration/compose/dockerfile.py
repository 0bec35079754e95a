"""The Dockerfile as a builder reads it: stages with their instructions."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import orjson

from tests.integration.compose.composition import FOLDER

FILE = FOLDER / "Dockerfile"
IGNORED = FOLDER / "Dockerfile.dockerignore"
INSTALL = re.compile(
    r"--mount=type=bind,from=wheels,source=/wheels,target=/wheels"
    r' pip install "pointsman\[([a-z,]+)\]"'
)


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its base, and its instructions in order."""

    name: str
    base: str
    steps: tuple[tuple[str, str], ...]

    def all(self, instruction: str) -> Sequence[str]:
        """Return what stands behind each of one instruction."""
        return [rest for name, rest in self.steps if name == instruction]

    def one(self, instruction: str) -> str:
        """Return what stands behind the only one of an instruction."""
        (found,) = self.all(instruction)
        return found

    @property
    def command(self) -> Sequence[str]:
        """Return the words of its CMD."""
        words = orjson.loads(self.one("CMD"))
        assert isinstance(words, list)
        return [str(word) for word in words]

    @property
    def extras(self) -> frozenset[str]:
        """Return the extras of ours that it installs, from the checked folder and nowhere else."""
        found = INSTALL.fullmatch(self.one("RUN"))
        assert found is not None, self.one("RUN")
        return frozenset(found[1].split(","))


def stages() -> Mapping[str, Stage]:
    """Return the stages by name, in their order."""
    found: dict[str, tuple[str, list[tuple[str, str]]]] = {}
    steps: list[tuple[str, str]] = []
    for name, rest in _instructions():
        if name == "FROM":
            base, _, stage = rest.partition(" AS ")
            steps = []
            found[stage] = (base, steps)
        else:
            steps.append((name, rest))
    return {name: Stage(name, base, tuple(steps)) for name, (base, steps) in found.items()}


def is_visible(path: str) -> bool:
    """Return whether a build may see a path of the repository; the last fitting line decides."""
    seen = True
    for line in IGNORED.read_text().splitlines():
        pattern = line.removeprefix("!")
        if line and not line.startswith("#") and _fits(path, pattern):
            seen = line.startswith("!")
    return seen


def _fits(path: str, pattern: str) -> bool:
    whole = PurePosixPath(path)
    above = [str(parent) for parent in (whole, *whole.parents)]
    names = whole.parts if pattern.startswith("**/") else above
    return any(fnmatch.fnmatchcase(name, pattern.removeprefix("**/")) for name in names)


def _instructions() -> Iterator[tuple[str, str]]:
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, rest = line.strip().partition(" ")
            yield name, " ".join(rest.split())
