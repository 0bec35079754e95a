"""Many slow streams through the product: a short form, and a thousand for two minutes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.load.measuring import PAUSING_EVERY, Load, of_product

LATE_S = 2.0
"""What a busy machine may add to any silence."""
MOST_MIB = 1024


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


async def check(home: Path, load: Load) -> None:
    figures = await of_product(home, load)
    assert figures.whole == figures.streams == load.streams, figures
    assert figures.chunks == load.streams * load.chunks, figures
    assert figures.pauses >= load.streams // PAUSING_EVERY, figures
    assert figures.longest_gap_s <= 1.5 * load.keepalive_s + LATE_S, figures
    assert figures.peak_mib <= MOST_MIB, figures


@pytest.mark.spec("DSP-170", "DSP-173", "DSP-186")
async def test_streams_live_through_the_silences_of_their_providers(home: Path) -> None:
    await check(home, Load(streams=160, chunks=8, chunk_s=0.4, pause_s=4.0, keepalive_s=1.0))


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.spec("DSP-170", "DSP-173", "DSP-186")
async def test_a_thousand_streams_for_two_minutes(home: Path) -> None:
    await check(home, Load(streams=1000, chunks=120))
