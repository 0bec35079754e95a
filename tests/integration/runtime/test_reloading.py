"""Catalog files that change while a process runs."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import prometheus_client
import pytest
from structlog.testing import capture_logs

from services.domain.catalog import Catalog
from services.runtime.catalog import catalog_files, load_catalog
from services.runtime.reloading import CatalogWatch, Current
from services.runtime.settings import CatalogSettings
from services.runtime.sources import ConfigError

MODEL = """
[[models]]
id = "{name}"
tier = "low"
[[models.bindings]]
provider = "acme"
input_usd_per_mtok = {price}
output_usd_per_mtok = 2.0
"""
SETTINGS = CatalogSettings(extend=("acme.toml",))
SOON_S = 5.0


def write(home: Path, name: str = "acme-one", price: float = 1.0) -> None:
    """Replace the file as a careful editor does."""
    aside = home / "acme.toml.new"
    aside.write_text(MODEL.format(name=name, price=price))
    aside.replace(home / "acme.toml")


@dataclass
class Picky:
    """Takes over catalogs that have a certain model."""

    needed: str
    taken: list[str] = field(default_factory=list)
    has_taken: asyncio.Event = field(default_factory=asyncio.Event)

    def adopt(self, catalog: Catalog) -> Callable[[], None]:
        if self.needed not in catalog.models:
            raise ConfigError(f"routing.hard_pin_model: no model {self.needed!r}")

        def take_over() -> None:
            self.taken.append(catalog.version)
            self.has_taken.set()

        return take_over


@dataclass
class Rig:
    home: Path
    picky: Picky = field(default_factory=lambda: Picky("claude-haiku-4-5"))

    def __post_init__(self) -> None:
        write(self.home)
        first = self.load()
        self.current = Current(first)
        files = catalog_files(SETTINGS, self.home)
        adopters = [self.current.adopt, self.picky.adopt]
        self.watch = CatalogWatch(self.load, files, first, adopters, every_s=0.01)

    def load(self) -> Catalog:
        return load_catalog(SETTINGS, self.home)

    def price(self) -> float:
        return self.current.catalog.models["acme-one"].bindings[0].price.input_usd_per_mtok


def count(outcome: str) -> float:
    name, labels = "pointsman_catalog_reloads_total", {"outcome": outcome}
    return prometheus_client.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.spec("SCO-64", "OPS-98")
async def test_a_file_that_changes_is_taken_over_by_all_at_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    before, held, counted = rig.current.version, rig.current.catalog, count("taken_over")
    assert not await rig.watch.look()
    write(tmp_path, price=3.0)
    assert await rig.watch.look()
    assert rig.price() == 3.0
    assert rig.picky.taken == [rig.current.version] != [before]
    assert held.models["acme-one"].bindings[0].price.input_usd_per_mtok == 1.0
    assert count("taken_over") == counted + 1
    assert not await rig.watch.look()


async def test_a_file_that_is_written_again_with_the_same_words_changes_nothing(
    tmp_path: Path,
) -> None:
    rig = Rig(tmp_path)
    write(tmp_path)
    assert not await rig.watch.look()
    assert rig.picky.taken == []


@pytest.mark.spec("OPS-98")
@pytest.mark.parametrize("fault", ["not TOML [", "[[models]]\nid = 'x'\n", None])
async def test_a_file_that_cannot_be_used_changes_nothing_and_is_told_once(
    tmp_path: Path, fault: str | None
) -> None:
    rig = Rig(tmp_path)
    before, counted, file = rig.current.version, count("refused"), tmp_path / "acme.toml"
    if fault is None:
        file.unlink()
    else:
        file.write_text(fault)
    with capture_logs() as lines:
        assert not await rig.watch.look()
        assert not await rig.watch.look()
    (line,) = lines
    assert (line["event"], line["catalog_version"]) == ("config_reload_failed", before)
    assert "acme.toml" in line["error"]
    assert rig.current.version == before
    assert count("refused") == counted + 1
    write(tmp_path, price=4.0)
    assert await rig.watch.look()
    assert rig.price() == 4.0


@pytest.mark.spec("OPS-98")
async def test_where_one_refuses_a_catalog_nobody_takes_it_over(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Picky("acme-two"))
    write(tmp_path, price=3.0)
    with capture_logs() as lines:
        assert not await rig.watch.look()
    assert rig.price() == 1.0
    assert "routing.hard_pin_model: no model 'acme-two'" in lines[0]["error"]
    write(tmp_path, "acme-two")
    assert await rig.watch.look()
    assert "acme-one" not in rig.current.catalog.models


async def test_it_looks_by_itself_and_at_once_on_a_signal(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    async with rig.watch.running():
        write(tmp_path, price=5.0)
        async with asyncio.timeout(SOON_S):
            await rig.picky.has_taken.wait()
    assert rig.price() == 5.0
    files = catalog_files(SETTINGS, tmp_path)
    patient = CatalogWatch(
        rig.load, files, rig.current.catalog, [rig.picky.adopt, rig.current.adopt], every_s=3_600.0
    )
    rig.picky.has_taken.clear()
    async with patient.running():
        write(tmp_path, price=6.0)
        os.kill(os.getpid(), signal.SIGHUP)
        async with asyncio.timeout(SOON_S):
            await rig.picky.has_taken.wait()
    assert rig.price() == 6.0
