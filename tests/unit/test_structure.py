"""The tree looks as the project says it does."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from tests.spec_coverage import listed_in

ROOT = Path(__file__).resolve().parents[2]
TOP = frozenset(
    {
        ".ci",
        ".gitignore",
        "LICENSE",
        "Makefile",
        "README.md",
        "compose",
        "gateway",
        "protos",
        "pyproject.toml",
        "requirements-dev.lock",
        "requirements.lock",
        "services",
        "tests",
    }
)
PLACES = re.compile(r"(?<![\w.~/-])/(?:work|root|tmp|opt/\w*pypi)/|\.\./shared\b")
"""Folders of one machine, which mean nothing on another."""
INDEXES = re.compile(r"index-url|find-links|trusted-host|file:///|://(?!registry\.npmjs\.org/)\S+")
UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b|NotImplemented[E]rror|mock[.]patch")
BINARY = frozenset({".binpb", ".png", ".gz", ".zst"})


def tracked() -> list[Path]:
    """Return what git tracks and the working tree has."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listing.returncode != 0:
        pytest.skip("not a git checkout")
    names = [Path(name) for name in listing.stdout.split("\0") if name]
    return [name for name in names if (ROOT / name).is_file()]


def texts() -> list[tuple[Path, str]]:
    """Return every written file with its text."""
    return [
        (path, (ROOT / path).read_text(errors="replace"))
        for path in tracked()
        if path.suffix not in BINARY and path.parts[:2] != ("protos", "gen")
    ]


def parts() -> list[Path]:
    """Return the folders that are deployed by themselves."""
    services = sorted(path.parent for path in (ROOT / "services").glob("*/build.py"))
    return [ROOT / "gateway", *services]


def test_the_top_level_holds_only_what_it_should() -> None:
    assert {path.parts[0] for path in tracked()} - TOP == set()


def test_no_file_speaks_of_one_machine() -> None:
    assert [str(path) for path, text in texts() if PLACES.search(text)] == []


def test_locks_name_no_index() -> None:
    locks = [(p, t) for p, t in texts() if p.suffix == ".lock" or p.name == "package-lock.json"]
    assert locks
    for path, text in locks:
        addresses = [line for line in text.splitlines() if '"url"' not in line]
        assert [line for line in addresses if INDEXES.search(line)] == [], path


def test_nothing_is_left_unfinished() -> None:
    code = [(path, text) for path, text in texts() if path.suffix in {".py", ".proto", ".md"}]
    found = [f"{path}: {m[0]}" for path, text in code for m in [UNFINISHED.search(text)] if m]
    assert found == []


def is_code(text: str) -> bool:
    """Return whether a module holds more than a docstring."""
    return any(not isinstance(node, ast.Expr) for node in ast.parse(text).body)


def test_every_module_defers_its_annotations() -> None:
    modules = [(path, text) for path, text in texts() if path.suffix == ".py"]
    opening = "from __future__ import annotations\n"
    assert [str(path) for path, text in modules if is_code(text) and opening not in text] == []


@pytest.mark.parametrize("part", parts(), ids=lambda part: part.name)
def test_every_part_says_what_it_is_and_does(part: Path) -> None:
    readme, spec = part / "README.md", part / "SPEC.md"
    assert readme.exists(), f"{part.name} has no README.md"
    assert spec.exists(), f"{part.name} has no SPEC.md"
    assert len(list(listed_in(spec.read_text()))) > 0
