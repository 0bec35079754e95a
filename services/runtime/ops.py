"""The ops listener: ``/metrics``, ``/livez`` and ``/readyz`` on a thread of its own.

A busy event loop still answers here. Readiness is false before start, while draining, while a hard
need is missing, and when the loop lagged by more than two seconds three times in a row.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import threading
import time
from typing import TYPE_CHECKING

import prometheus_client

from services.runtime import metrics
from services.runtime.background import ended, in_background

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

_LAG_SAMPLE_S = 1.0
_LAG_LIMIT_S = 2.0
_LAG_STRIKES = 3
_STOP_POLL_S = 0.1


class OpsListener:
    """Serves process health and metrics on ``host:port``; port 0 takes a free one."""

    def __init__(self, listen: str) -> None:
        host, _, port = listen.rpartition(":")
        self._address = (host.strip("[]"), int(port))
        self._server: http.server.ThreadingHTTPServer | None = None
        self._needs: Callable[[], Mapping[str, bool]] | None = None
        self._is_draining = False
        self._lag_strikes = 0
        self.port = 0

    def start(self) -> None:
        """Bind and serve; live at once, ready only after :meth:`watch`.

        Raises:
            OSError: the address cannot be bound; the message names it.
        """
        try:
            self._server = http.server.ThreadingHTTPServer(self._address, self._handler())
        except OSError as error:
            host, port = self._address
            raise OSError(
                f"cannot listen on {host}:{port}: {error.strerror}; set another ops_listen"
            ) from None
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(
            target=self._server.serve_forever, args=(_STOP_POLL_S,), name="ops", daemon=True
        ).start()

    def watch(self, needs: Callable[[], Mapping[str, bool]]) -> None:
        """Become ready while all of ``needs()`` are true."""
        self._needs = needs

    def set_draining(self) -> None:
        """Become not ready for good."""
        self._is_draining = True

    def stop(self) -> None:
        """Close the listener."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()

    @contextlib.asynccontextmanager
    async def measuring_loop_lag(self) -> AsyncIterator[None]:
        """Sample the lag of the running loop for the length of a block."""
        task = in_background(self._sample_lag(), "loop-lag")
        try:
            yield
        finally:
            await ended(task)

    async def _sample_lag(self) -> None:
        while True:
            before_s = time.monotonic()
            await asyncio.sleep(_LAG_SAMPLE_S)
            self.note_loop_lag(max(0.0, time.monotonic() - before_s - _LAG_SAMPLE_S))

    def note_loop_lag(self, lag_s: float) -> None:
        """Take a sample of the loop's lag."""
        metrics.LOOP_LAG_SECONDS.set(lag_s)
        self._lag_strikes = self._lag_strikes + 1 if lag_s > _LAG_LIMIT_S else 0

    def readiness(self) -> tuple[bool, dict[str, object]]:
        """Return whether the process is ready, and why."""
        needs = dict(self._needs()) if self._needs is not None else {"started": False}
        is_lagging = self._lag_strikes >= _LAG_STRIKES
        is_ready = all(needs.values()) and not self._is_draining and not is_lagging
        states = {name: "up" if is_up else "down" for name, is_up in needs.items()}
        facts: dict[str, object] = {"status": "ok" if is_ready else "unhealthy", "needs": states}
        if self._is_draining:
            facts["draining"] = True
        if is_lagging:
            facts["lagging"] = True
        return is_ready, facts

    def _answer(self, path: str) -> tuple[int, str, bytes]:
        if path == "/metrics":
            return 200, prometheus_client.CONTENT_TYPE_LATEST, prometheus_client.generate_latest()
        if path == "/livez":
            return 200, "application/json", b'{"status":"ok"}'
        if path == "/readyz":
            is_ready, facts = self.readiness()
            return 200 if is_ready else 503, "application/json", json.dumps(facts).encode()
        return (
            404,
            "application/json",
            b'{"error":"not found: /metrics, /livez and /readyz are here"}',
        )

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        answer = self._answer

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                status, content_type, body = answer(self.path.partition("?")[0])
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name fixed by http.server
                """Write nothing: probes are not news."""

        return Handler
