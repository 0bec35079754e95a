"""The wheel holds the whole product, its data files too, and runs from there."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from tests.integration.cli.pointsman import ROOT, environment
from tests.integration.compose.images import extras_of_ours

SOURCES = {"gateway": ROOT, "services": ROOT, "pointsman": ROOT / "protos" / "gen"}


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel that was built and unpacked."""

    folder: Path
    names: frozenset[str]
    metadata: Message
    entry_points: str


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    made, folder = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("installed")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(made))
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=50)
    (path,) = made.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
        names = frozenset(archive.namelist())
    (info,) = folder.glob("*.dist-info")
    return Wheel(
        folder,
        names,
        Parser().parsestr((info / "METADATA").read_text()),
        (info / "entry_points.txt").read_text(),
    )


def test_it_holds_every_file_of_the_product_and_nothing_else(wheel: Wheel) -> None:
    packed = {name for name in wheel.names if ".dist-info/" not in name}
    assert packed == set(_product())
    for name in (
        "services/runtime/data/catalog.toml",
        "gateway/migrations/versions/0001_installations_and_keys.py",
        "services/credentials/adapters/migrations/versions/0001_credentials.py",
        "pointsman/dispatch/v1/dispatch_pb2.py",
    ):
        assert name in packed


def test_it_offers_the_command_and_an_extra_for_every_deployable(wheel: Wheel) -> None:
    assert "pointsman = services.cli.__main__:main" in wheel.entry_points
    assert set(wheel.metadata.get_all("Provides-Extra", [])) == set(extras_of_ours()) - {""}


def test_the_command_runs_from_it(wheel: Wheel, tmp_path: Path) -> None:
    env = environment(tmp_path)
    kept = [path for path in sys.path if path and not Path(path).is_relative_to(ROOT)]
    env["PYTHONPATH"] = os.pathsep.join((str(wheel.folder), *kept))
    for arguments in (("config", "check"), ("migrate", "up")):
        done = subprocess.run(
            (sys.executable, "-m", "services.cli", *arguments),
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=40,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout.count("\tyes") == 2


def _product() -> Iterator[str]:
    """Yield every file that git would have, as it is named in the wheel."""
    for package, root in SOURCES.items():
        for path in (root / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                yield str(path.relative_to(root))
