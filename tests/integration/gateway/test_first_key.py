"""The first router key: made once, shown once, or the operator's own."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from gateway.first_key import FILE_NAME, ensure_first_key
from gateway.keys import digest_of
from tests.fakes.clock import FakeClock
from tests.fakes.ports import INSTALLATION, MemoryKeyStore


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


async def _ensure(store: MemoryKeyStore, clock: FakeClock, folder: Path, key: str = "") -> str:
    made = await ensure_first_key(
        store,
        INSTALLATION,
        clock,
        bootstrap_key=key,
        database=f"sqlite:///{folder}/keys.db",
    )
    return made.token if made is not None else ""


async def test_without_a_terminal_it_is_written_for_its_owner_alone(
    clock: FakeClock, tmp_path: Path
) -> None:
    store = MemoryKeyStore()
    token = await _ensure(store, clock, tmp_path)
    file = tmp_path / FILE_NAME
    assert file.read_text().strip() == token
    assert file.stat().st_mode & 0o777 == 0o600
    assert await store.find(digest_of(token)) is not None
    assert await _ensure(store, clock, tmp_path) == ""


async def test_on_a_terminal_it_is_shown_once_and_never_written(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    store = MemoryKeyStore()
    token = await _ensure(store, clock, tmp_path)
    assert screen.getvalue().count(token) == 1
    assert not os.listdir(tmp_path)
    await _ensure(store, clock, tmp_path)
    assert screen.getvalue().count("rk_") == 1


async def test_a_bootstrap_key_is_the_first_and_only_one(clock: FakeClock, tmp_path: Path) -> None:
    store = MemoryKeyStore()
    for _ in range(2):
        assert await _ensure(store, clock, tmp_path, "rk_bootstrap_0123456789") == ""
    assert [key.name for key in await store.list_keys(INSTALLATION)] == ["bootstrap"]
    assert not os.listdir(tmp_path)
