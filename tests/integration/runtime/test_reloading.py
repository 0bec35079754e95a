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

from gateway.settings import GatewaySettings
from services.runtime.catalog import load_catalog
from services.runtime.config import SettingError, read_document
from services.runtime.parts import common_of, watch_of
from services.runtime.reloading import ConfigWatch, Current, Edition
from services.runtime.settings import CommonSettings

MODEL = """
[[models]]
id = "{name}"
tier = "low"
[[models.bindings]]
provider = "acme"
input_usd_per_mtok = {price}
output_usd_per_mtok = 2.0
"""
CONFIG = """
[providers.acme]
family = "openai_chat"
base_url = "{url}"
[catalog]
extend = [{extend}]
[log]
level = "{level}"
"""
HERE = "http://127.0.0.1:1/v1"
SOON_S = 5.0
FAULTS = ["not TOML [", "[[models]]\nid = 'x'\n", "id = " + "[" * 3_000, "id = " + "9" * 5_000]


def replace(file: Path, text: str) -> None:
    """Replace a file as a careful editor does."""
    aside = file.with_suffix(".new")
    aside.write_text(text)
    aside.replace(file)


def write(home: Path, name: str = "acme-one", price: float = 1.0) -> None:
    """Replace the catalog's file."""
    replace(home / "acme.toml", MODEL.format(name=name, price=price))


def configure(
    home: Path, url: str = HERE, extend: str = '"acme.toml"', level: str = "info", more: str = ""
) -> None:
    """Replace the configuration."""
    replace(home / "pointsman.toml", CONFIG.format(url=url, extend=extend, level=level) + more)


@dataclass
class Picky:
    """Takes over editions whose catalog has a certain model."""

    needed: str
    taken: list[Edition[CommonSettings]] = field(default_factory=list)
    has_taken: asyncio.Event = field(default_factory=asyncio.Event)

    def adopt(self, edition: Edition[CommonSettings]) -> Callable[[], None]:
        if self.needed not in edition.catalog.models:
            raise SettingError("catalog.extend", f"no model {self.needed!r}")

        def take_over() -> None:
            self.taken.append(edition)
            self.has_taken.set()

        return take_over

    @property
    def versions(self) -> list[str]:
        """Versions of the catalogs that were taken over."""
        return [edition.catalog.version for edition in self.taken]


class Broken(Picky):
    """Has a fault of its own."""

    def adopt(self, edition: Edition[CommonSettings]) -> Callable[[], None]:
        self.has_taken.set()
        raise LookupError("out of order")


@dataclass
class Rig:
    home: Path
    picky: Picky = field(default_factory=lambda: Picky("claude-haiku-4-5"))

    def __post_init__(self) -> None:
        write(self.home)
        configure(self.home)
        document = read_document(self.home / "pointsman.toml", {})
        self.settings = common_of(document)
        catalog = load_catalog(self.settings.catalog, self.home)
        self.current = Current(catalog)
        self.document = document
        self.watch = self.watching(0.01)

    def watching(self, every_s: float) -> ConfigWatch[CommonSettings]:
        """Return what watches from now on."""
        return watch_of(
            self.document,
            Edition(self.settings, self.current.catalog),
            [self.current.adopt, self.picky.adopt],
            read=common_of,
            lasting=lambda newer: {"gateway": newer.section(GatewaySettings, "gateway")},
            every_s=every_s,
            settled_s=0.0,
        )

    def price(self) -> float:
        return self.current.catalog.models["acme-one"].bindings[0].price.input_usd_per_mtok


def count(outcome: str) -> float:
    name, labels = "pointsman_config_reloads_total", {"outcome": outcome}
    return prometheus_client.REGISTRY.get_sample_value(name, labels) or 0.0


@pytest.mark.spec("SCO-64", "OPS-98")
async def test_a_file_that_changes_is_taken_over_by_all_at_once(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    before, held, counted = rig.current.version, rig.current.catalog, count("taken_over")
    assert not await rig.watch.look()
    write(tmp_path, price=3.0)
    assert await rig.watch.look()
    assert rig.price() == 3.0
    assert rig.picky.versions == [rig.current.version] != [before]
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
@pytest.mark.parametrize("fault", [*FAULTS, None])
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
    assert lines[0]["error"] == (f"{tmp_path}/pointsman.toml: catalog.extend: no model 'acme-two'")
    write(tmp_path, "acme-two")
    assert await rig.watch.look()
    assert "acme-one" not in rig.current.catalog.models


async def test_a_fault_of_its_own_is_told_at_once_and_fails_no_stop(tmp_path: Path) -> None:
    broken = Broken("")
    rig = Rig(tmp_path, broken)
    with capture_logs() as lines:
        async with rig.watch.running(), asyncio.timeout(SOON_S):
            write(tmp_path, price=5.0)
            await broken.has_taken.wait()
    (line,) = lines
    assert (line["event"], line["task"]) == ("background_ended", "config-watch")


async def test_it_looks_by_itself_and_at_once_on_a_signal(tmp_path: Path) -> None:
    rig = Rig(tmp_path)

    async with rig.watch.running():
        write(tmp_path, price=5.0)
        async with asyncio.timeout(SOON_S):
            await rig.picky.has_taken.wait()
    assert rig.price() == 5.0
    patient = rig.watching(3_600.0)
    rig.picky.has_taken.clear()
    async with patient.running():
        write(tmp_path, price=6.0)
        os.kill(os.getpid(), signal.SIGHUP)
        async with asyncio.timeout(SOON_S):
            await rig.picky.has_taken.wait()
    assert rig.price() == 6.0


@pytest.mark.spec("OPS-98")
async def test_settings_that_change_are_taken_over_beside_the_catalog(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    (tmp_path / "more.toml").write_text(MODEL.format(name="acme-more", price=1.0))
    configure(tmp_path, "http://127.0.0.1:2/v1", '"acme.toml", "more.toml"')
    with capture_logs() as lines:
        assert await rig.watch.look()
        assert not await rig.watch.look()
    assert [line["event"] for line in lines] == ["config_reloaded", "catalog_reloaded"]
    assert lines[0]["keys"] == ["providers.acme.base_url", "catalog.extend"]
    (taken,) = rig.picky.taken
    assert taken.settings.providers["acme"].base_url == "http://127.0.0.1:2/v1"
    assert "acme-more" in rig.current.catalog.models
    replace(tmp_path / "more.toml", MODEL.format(name="acme-less", price=1.0))
    assert await rig.watch.look()
    assert "acme-less" in rig.current.catalog.models


@pytest.mark.spec("OPS-98", "OPS-95")
@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("[providers.globex]\nbase_ur = 'x'\n", "providers.globex.base_ur: unknown key; did you"),
        ("[gateway]\nmax_body_byte = 1\n", "gateway.max_body_byte: unknown key; did you mean"),
        ("[providers.globex]\nfamily = 'gemini'\n", "providers.globex.base_url: must be set"),
        ("[[credentials]]\nprovider = 'acne'\n", "credentials.0.provider: no provider 'acne'"),
        ("[shared]\nvalkey_url = '${NOT_SET}'\n[x\n", "not valid TOML"),
    ],
)
async def test_settings_that_cannot_be_used_change_nothing_and_are_named(
    tmp_path: Path, more: str, complaint: str
) -> None:
    rig = Rig(tmp_path)
    configure(tmp_path, "http://127.0.0.1:2/v1", more=more)
    with capture_logs() as lines:
        assert not await rig.watch.look()
    (line,) = lines
    assert line["event"] == "config_reload_failed"
    assert line["error"].startswith(f"{tmp_path}/pointsman.toml: {complaint}")
    assert rig.picky.taken == []
    configure(tmp_path, "http://127.0.0.1:2/v1")
    assert await rig.watch.look()


@pytest.mark.spec("OPS-98")
async def test_what_needs_a_restart_is_named_and_keeps_its_value(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    more = "[gateway]\nmax_body_bytes = 1000\n"
    configure(tmp_path, level="debug", more=more)
    with capture_logs() as lines:
        assert not await rig.watch.look()
    (line,) = lines
    assert (line["event"], line["log_level"]) == ("config_restart_needed", "warning")
    assert line["keys"] == ["log.level", "gateway.max_body_bytes"]
    configure(tmp_path, "http://127.0.0.1:2/v1", level="debug", more=more)
    assert await rig.watch.look()
    assert rig.picky.taken[0].settings.log.level == "info"


async def test_a_file_that_is_being_written_is_read_once_it_has_settled(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    patient = watch_of(
        rig.document,
        Edition(rig.settings, rig.current.catalog),
        [rig.current.adopt],
        read=common_of,
        settled_s=60.0,
    )
    configure(tmp_path, "http://127.0.0.1:2/v1")
    assert not await patient.look()
    file = tmp_path / "pointsman.toml"
    past_s = file.stat().st_mtime - 61.0
    os.utime(file, (past_s, past_s))
    assert not await patient.look()  # the catalog's file is as young
    os.utime(tmp_path / "acme.toml", (past_s, past_s))
    assert await patient.look()
