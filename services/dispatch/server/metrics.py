"""Counters of dispatch; every label value comes from a closed set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.policy.words import is_recognised
from services.runtime.tallies import Counter

if TYPE_CHECKING:
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import UpstreamError

UNRECOGNISED = Counter(
    "pointsman_upstream_errors_unrecognised_total",
    "Upstream errors that name themselves in no word of their dialect, classed by status alone",
    ("family", "status"),
)


def count_unrecognised(family: WireFamily, error: UpstreamError) -> None:
    """Count an error whose words are not known."""
    if not is_recognised(family, error):
        hundreds = error.http_status // 100
        UNRECOGNISED.labels(family.value, f"{hundreds}xx" if hundreds in (4, 5) else "other").inc()
