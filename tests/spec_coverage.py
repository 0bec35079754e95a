"""Lists behaviours that no test cites, and citations of behaviours that no SPEC.md has.

``python -m tests.spec_coverage`` reads every ``SPEC.md`` beside our code for lines such as
``- **DSP-30** what the product does``, and every ``@pytest.mark.spec("DSP-30")`` in the tests.
It exits 1 when the two differ.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("compose", "gateway", "services")
SPEC = r"[A-Z]+-[0-9]+[a-z]?"
LISTED = re.compile(rf"^- \*\*({SPEC}(?:(?:, | … ){SPEC})*)\*\* \S", re.MULTILINE)
MENTIONED = re.compile(rf"^[ \t]*[-*] \**{SPEC}", re.MULTILINE)

Reader = Callable[[str], Iterable[str]]
Places = Mapping[str, tuple[str, ...]]
"""Behaviour to the files that name it."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What is listed in SPEC.md files and what tests cite."""

    listed: Places
    cited: Places

    @property
    def untested(self) -> tuple[str, ...]:
        """Return behaviours that are listed and not cited, in order."""
        return _ordered(self.listed.keys() - self.cited.keys())

    @property
    def unlisted(self) -> tuple[str, ...]:
        """Return behaviours that are cited and not listed, in order."""
        return _ordered(self.cited.keys() - self.listed.keys())

    @property
    def is_whole(self) -> bool:
        """Return whether both sides name the same behaviours."""
        return not self.untested and not self.unlisted


def read_coverage(root: Path = ROOT) -> Coverage:
    """Return what the tree at `root` lists and cites."""
    specs = [path for part in PRODUCT for path in sorted((root / part).rglob("SPEC.md"))]
    found = sorted((root / "tests").rglob("*.py"))
    tests = [path for path in found if "node_modules" not in path.parts]
    return Coverage(
        _gather(root, specs, listed_in),
        _gather(root, tests, lambda text: cited_in(ast.parse(text))),
    )


def listed_in(text: str) -> Iterator[str]:
    """Yield the behaviours that a SPEC.md lists: `ID`, `ID, ID` or `ID … ID` in bold.

    Raises:
        ValueError: a line names a behaviour in another form.
    """
    for line in text.splitlines():
        listed = LISTED.match(line)
        if listed is None and MENTIONED.match(line):
            raise ValueError(f"not of the form `- **ID** text`: {line}")
        for part in listed[1].split(", ") if listed else ():
            yield from _span(*part.split(" … "))


def _span(first: str, last: str | None = None) -> Iterator[str]:
    family, _, start = first.partition("-")
    if last is None:
        yield first
        return
    for number in range(int(start), int(last.partition("-")[2]) + 1):
        yield f"{family}-{number}"


def cited_in(tree: ast.AST) -> Iterator[str]:
    """Yield the behaviours that `pytest.mark.spec(...)` cites anywhere in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.spec":
            for argument in node.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value


def report(coverage: Coverage) -> str:
    """Return what a person reads."""
    lines = [
        f"{spec}: no test ({place})" for spec, place in _at(coverage.listed, coverage.untested)
    ]
    lines += [
        f"{spec}: cited, in no SPEC.md ({place})"
        for spec, place in _at(coverage.cited, coverage.unlisted)
    ]
    both = len(coverage.listed.keys() & coverage.cited.keys())
    return "\n".join([*lines, f"{both} of {len(coverage.listed)} listed behaviours have tests"])


def main() -> int:
    """Print the report; return the exit code."""
    coverage = read_coverage()
    print(report(coverage))  # noqa: T201 - the command's output
    return 0 if coverage.is_whole else 1


def _gather(root: Path, paths: Iterable[Path], read: Reader) -> Places:
    places: dict[str, list[str]] = {}
    for path in paths:
        for spec in dict.fromkeys(read(path.read_text())):
            places.setdefault(spec, []).append(str(path.relative_to(root)))
    return {spec: tuple(files) for spec, files in places.items()}


def _at(places: Places, specs: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((spec, ", ".join(places[spec])) for spec in specs)


def _ordered(specs: Iterable[str]) -> tuple[str, ...]:
    def key(spec: str) -> tuple[str, int, str]:
        family, _, number = spec.partition("-")
        return family, int(re.sub(r"\D", "", number)), number

    return tuple(sorted(specs, key=key))


if __name__ == "__main__":
    sys.exit(main())
