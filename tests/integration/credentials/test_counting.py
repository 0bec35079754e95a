"""Picks, transitions and repeated writes are counted, by words of a closed list alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from prometheus_client import REGISTRY

from services.credentials.policy.selection import Terms
from services.credentials.server import Service
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import account, named, picked, replica, running, told

UNIFIED = "anthropic-ratelimit-unified-"
WARNED = (f"{UNIFIED}5h-status", "allowed_warning")
PREFIX = "pointsman_credential_"


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"{PREFIX}{name}_total", labels) or 0.0


def since(name: str, **labels: str) -> Callable[[], float]:
    before = counted(name, **labels)
    return lambda: counted(name, **labels) - before


def service(tmp_path: Path, clock: FakeClock, labels: Sequence[str], **options: object) -> Service:
    url = f"sqlite:///{tmp_path}/credentials.db"
    return replica(url, [account(one) for one in labels], clock, **options)  # type: ignore[arg-type]  # any option


@pytest.mark.spec("CRD-165", "CRD-166")
async def test_serving_from_a_warned_account_is_counted_and_no_line_of_the_log(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with running(service(tmp_path, clock, ("a", "b"))) as (one,):
        await one.reports.apply(told(clock, named(one, "a").id, 200, WARNED))
        warned = since("fallback_picks", bucket="warned")
        clean = since("picks", bucket="clean", strategy="sole")
        for _ in range(3):
            await picked(one)
        assert (warned(), clean()) == (0, 3)
        await one.reports.apply(told(clock, named(one, "b").id, 200, WARNED))
        with structlog.testing.capture_logs() as lines:
            for _ in range(3):
                await picked(one)
        assert warned() == 3
        assert lines == []


@pytest.mark.spec("CRD-165", "CRD-166")
async def test_a_session_that_stays_is_an_avoided_switch_and_no_fallback(
    tmp_path: Path, clock: FakeClock
) -> None:
    terms = Terms(survives_warning=True)
    async with running(service(tmp_path, clock, ("a", "b"), terms=terms)) as (one,):
        avoided = since("switches_avoided")
        fallbacks = since("fallback_picks", bucket="warned")
        first = await picked(one, session=b"s" * 16)
        assert avoided() == 0
        await one.reports.apply(told(clock, first.credential_id, 200, WARNED))
        again = await picked(one, session=b"s" * 16)
        assert again.credential_id == first.credential_id
        assert (avoided(), fallbacks()) == (1, 0)


@pytest.mark.spec("CRD-165")
async def test_transitions_doubts_and_repeated_writes_are_counted(
    tmp_path: Path, clock: FakeClock
) -> None:
    pair = (service(tmp_path, clock, "a") for _ in range(2))
    async with running(*pair) as (one, two):
        sets = since("transitions", kind="warning", change="set", cause="own_status")
        stale = since("doubts", kind="stale")
        contradictions = since("doubts", kind="contradiction")
        repeated = since("writes_repeated")
        identity = named(one, "a").id
        await one.reports.apply(told(clock, identity, 200, WARNED))
        old = told(clock, identity, 200, (WARNED[0], "allowed"))
        await one.reports.apply(replace(old, observe_unix_s=old.observe_unix_s - 9))
        await one.reports.apply(told(clock, identity, 200, WARNED, (f"{UNIFIED}status", "allowed")))
        assert (sets(), stale(), contradictions(), repeated()) == (1, 1, 1, 0)
        clock.advance(1)
        await two.reports.apply(told(clock, identity, 429))
        assert repeated() == 1
        await asyncio.gather(one.vault.poll(), two.vault.poll())


@pytest.mark.spec("CRD-165")
def test_no_label_of_a_counter_can_name_anybody() -> None:
    allowed = {"kind", "change", "cause", "bucket", "strategy", "result"}
    ours = [metric for metric in REGISTRY.collect() if metric.name.startswith(PREFIX)]
    assert len(ours) >= 7
    for metric in ours:
        for sample in metric.samples:
            assert sample.labels.keys() <= allowed
            assert all(value.replace("_", "").isalnum() for value in sample.labels.values())
