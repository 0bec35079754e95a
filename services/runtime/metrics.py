"""RED metrics of calls: rate, errors, duration; labels come from closed sets only."""

from __future__ import annotations

from services.runtime.tallies import Counter, Gauge, Histogram

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)

RPC_HANDLED = Counter(
    "pointsman_rpc_handled_total", "RPCs that a server of ours ended", ("method", "code")
)
RPC_SECONDS = Histogram(
    "pointsman_rpc_seconds", "Time from call to end on the server", ("method",), buckets=BUCKETS_S
)
RPC_IN_FLIGHT = Gauge("pointsman_rpc_in_flight", "RPCs running now", ("method",))
CONFIG_RELOADS = Counter(
    "pointsman_config_reloads_total",
    "Configurations and catalogs that changed while the process ran, by what came of them",
    ("outcome",),
)
LOOP_LAG_SECONDS = Gauge("pointsman_loop_lag_seconds", "Last measured lag of the event loop")
