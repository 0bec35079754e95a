"""Measures many slow streams: ``python -m tests.load --streams 1000 --seconds 120``.

Prints what the product and a bare proxy did with the same load, and the ratio of their transits.
Provider and clients share all cores but the last; the process under test has that one. With
``--paths same`` like is compared with like: the proxy passes bytes too. ``--arrivals burst`` brings
all chunks of a second in one moment. Every ninth provider pauses for ``--pause`` seconds, which
keepalives must fill. Exits 1 when a stream was not whole or a keepalive was missed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.load.measuring import Arrivals, Load, Paths, of_product, of_proxy

PROXY_CHUNKS = 25
"""The bare proxy gives a stream a minute at most; its transits need no more."""


def main(arguments: Sequence[str]) -> int:
    """Run what ``arguments`` ask for and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=120, help="length of each stream")
    parser.add_argument("--pause", type=float, default=40.0, help="silence in every ninth stream")
    parser.add_argument("--keepalive", type=float, default=15.0, help="interval of keepalives")
    parser.add_argument("--arrivals", type=Arrivals, choices=list(Arrivals), default="spread")
    parser.add_argument("--paths", type=Paths, choices=list(Paths), default="all")
    options = parser.parse_args(arguments)
    load = Load(
        options.streams,
        options.seconds,
        pause_s=options.pause,
        keepalive_s=options.keepalive,
        arrivals=options.arrivals,
        paths=options.paths,
    )
    with tempfile.TemporaryDirectory() as folder:
        product = asyncio.run(of_product(Path(folder), load))
    _say(f"product  {product}")
    short = replace(load, chunks=min(load.chunks, PROXY_CHUNKS), pause_s=min(load.pause_s, 5.0))
    proxy = asyncio.run(of_proxy(short))
    _say(f"proxy    {proxy}")
    ratios = (
        product.transit_p50_ms / proxy.transit_p50_ms,
        product.transit_p99_ms / proxy.transit_p99_ms,
    )
    _say(f"transit  p50 {ratios[0]:.2f} x proxy, p99 {ratios[1]:.2f} x proxy")
    is_missed = product.longest_gap_s > 1.5 * load.keepalive_s + 1
    return 1 if is_missed or product.whole < product.streams else 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
