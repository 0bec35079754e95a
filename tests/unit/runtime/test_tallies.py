"""What is counted is scraped as ``prometheus_client`` itself would show it."""

from __future__ import annotations

import prometheus_client
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from services.runtime.tallies import Counter, Gauge, Histogram

BUCKETS = (0.1, 1, 2.5)
NAMES = ("a", 'b "quoted"')

values = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from((0.0, 0.1, 0.5, 1.0, 2.5, 2.6, 40.0)))
)


def shown(registry: CollectorRegistry) -> set[str]:
    """Return what a scrape shows, less the times at which rows were made."""
    lines = prometheus_client.generate_latest(registry).decode().splitlines()
    return {line for line in lines if "_created" not in line}


@given(values)
def test_counters_show_what_they_counted(counted: list[tuple[str, float]]) -> None:
    ours, theirs = CollectorRegistry(auto_describe=True), CollectorRegistry(auto_describe=True)
    own = Counter("seen_total", "Things seen", ("kind",), registry=ours)
    model = prometheus_client.Counter("seen_total", "Things seen", ("kind",), registry=theirs)
    for name, value in counted:
        own.labels(name).inc(value)
        model.labels(name).inc(value)
    assert shown(ours) == shown(theirs)


@given(values)
def test_histograms_show_how_values_spread(observed: list[tuple[str, float]]) -> None:
    ours, theirs = CollectorRegistry(auto_describe=True), CollectorRegistry(auto_describe=True)
    own = Histogram("took_seconds", "Time", ("kind",), buckets=BUCKETS, registry=ours)
    model = prometheus_client.Histogram(
        "took_seconds", "Time", ("kind",), buckets=BUCKETS, registry=theirs
    )
    for name, value in observed:
        own.labels(name).observe(value)
        model.labels(name).observe(value)
    assert shown(ours) == shown(theirs)


@given(st.lists(st.sampled_from((1.0, 2.0, -3.0))))
def test_gauges_show_how_much_there_is(changes: list[float]) -> None:
    ours, theirs = CollectorRegistry(auto_describe=True), CollectorRegistry(auto_describe=True)
    own = Gauge("open_things", "Things open", registry=ours)
    model = prometheus_client.Gauge("open_things", "Things open", registry=theirs)
    for change in changes:
        for gauge in (own, model):
            if change == 2.0:
                gauge.set(change)
            elif change > 0:
                gauge.inc(change)
            else:
                gauge.dec(-change)
    assert shown(ours) == shown(theirs)


def test_metrics_without_labels_are_there_before_anything_is_counted() -> None:
    registry = CollectorRegistry(auto_describe=True)
    Counter("seen_total", "Things seen", registry=registry)
    Histogram("took_seconds", "Time", buckets=BUCKETS, registry=registry)
    assert registry.get_sample_value("seen_total") == 0
    assert registry.get_sample_value("took_seconds_bucket", {"le": "+Inf"}) == 0


def test_a_row_stays_the_same() -> None:
    counter = Counter("seen_total", "Things", ("kind",), registry=CollectorRegistry())
    assert counter.labels("a") is counter.labels("a")
    assert counter.labels("a") is not counter.labels("b")


def test_other_labels_than_those_of_the_metric_are_refused() -> None:
    counter = Counter("seen_total", "Things", ("kind",), registry=CollectorRegistry())
    for wrong in ((), ("a", "b")):
        with pytest.raises(ValueError, match="seen_total has 1 labels"):
            counter.labels(*wrong)


def test_a_name_is_taken_once() -> None:
    registry = CollectorRegistry(auto_describe=True)
    Counter("seen_total", "Things", ("kind",), registry=registry)
    with pytest.raises(ValueError, match="seen"):
        Counter("seen_total", "Things", ("kind",), registry=registry)
