"""Counters, gauges and histograms as cheap as numbers: an action counts dozens of things.

They are used like those of ``prometheus_client``, which collects them. Its own take a lock for each
step, since any thread may count; these belong to the thread of the loop, and others only read them.
"""

from __future__ import annotations

import abc
from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING, Generic, TypeVar

from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

R = TypeVar("R")


class Amount:
    """One number of a counter or a gauge."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def inc(self, amount: float = 1) -> None:
        """Add to it."""
        self.value += amount

    def dec(self, amount: float = 1) -> None:
        """Take from it."""
        self.value -= amount

    def set(self, value: float) -> None:
        """Make it another one."""
        self.value = value


class Spread:
    """How many values of one histogram were at most each of its bounds, and their sum."""

    __slots__ = ("_bounds", "counts", "sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.sum += value
        self.counts[bisect_left(self._bounds, value)] += 1


class _Tally(abc.ABC, Generic[R]):
    """A metric: one row for each combination of its labels' values."""

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str] = (),
        *,
        registry: CollectorRegistry = REGISTRY,
    ) -> None:
        self._name = name
        self._documentation = documentation
        self._labels = tuple(labels)
        self._rows: dict[tuple[str, ...], R] = {} if labels else {(): self._made()}
        registry.register(self)

    def labels(self, *values: str) -> R:
        """Return the row of these values, always the same one.

        Raises:
            ValueError: it has more or fewer labels.
        """
        row = self._rows.get(values)
        if row is None:
            if len(values) != len(self._labels):
                raise ValueError(f"{self._name} has {len(self._labels)} labels")
            row = self._rows[values] = self._made()
        return row

    def collect(self) -> Iterable[Metric]:
        """Return what was counted; another thread may ask."""
        return (self._family(tuple(self._rows.items())),)

    def describe(self) -> Iterable[Metric]:
        """Return the metric without its rows."""
        return (self._family(()),)

    @abc.abstractmethod
    def _made(self) -> R:
        """Return a new row."""

    @abc.abstractmethod
    def _family(self, rows: Iterable[tuple[tuple[str, ...], R]]) -> Metric:
        """Return rows as they are scraped."""


class Counter(_Tally[Amount]):
    """Counts what happens."""

    def inc(self, amount: float = 1) -> None:
        """Add to a counter without labels."""
        self.labels().inc(amount)

    def _made(self) -> Amount:
        return Amount()

    def _family(self, rows: Iterable[tuple[tuple[str, ...], Amount]]) -> Metric:
        family = CounterMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, amount in rows:
            family.add_metric(labels, amount.value)
        return family


class Gauge(_Tally[Amount]):
    """Says how much there is."""

    def inc(self, amount: float = 1) -> None:
        """Add to a gauge without labels."""
        self.labels().inc(amount)

    def dec(self, amount: float = 1) -> None:
        """Take from a gauge without labels."""
        self.labels().dec(amount)

    def set(self, value: float) -> None:
        """Set a gauge without labels."""
        self.labels().set(value)

    def _made(self) -> Amount:
        return Amount()

    def _family(self, rows: Iterable[tuple[tuple[str, ...], Amount]]) -> Metric:
        family = GaugeMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, amount in rows:
            family.add_metric(labels, amount.value)
        return family


class Histogram(_Tally[Spread]):
    """Says how values spread over ``buckets``: rising bounds, each part of what it ends."""

    def __init__(
        self,
        name: str,
        documentation: str,
        labels: Sequence[str] = (),
        *,
        buckets: Sequence[float],
        registry: CollectorRegistry = REGISTRY,
    ) -> None:
        self._bounds = tuple(float(bound) for bound in buckets)
        bounds = (*self._bounds, float("inf"))
        self._names = tuple(str(floatToGoString(each)) for each in bounds)  # type: ignore[no-untyped-call]  # theirs
        super().__init__(name, documentation, labels, registry=registry)

    def observe(self, value: float) -> None:
        """Count a value in a histogram without labels."""
        self.labels().observe(value)

    def _made(self) -> Spread:
        return Spread(self._bounds)

    def _family(self, rows: Iterable[tuple[tuple[str, ...], Spread]]) -> Metric:
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labels)
        for labels, spread in rows:
            counts = [float(count) for count in accumulate(spread.counts)]
            family.add_metric(labels, list(zip(self._names, counts, strict=True)), spread.sum)
        return family
