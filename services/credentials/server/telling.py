"""What the service says about marks: one log line per transition, and counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import Counter

from services.credentials.server.bounded import Bounded
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model import Transition
    from services.credentials.policy.evidence.rules import Doubt

MAX_DOUBTS = 1_024
REPEAT_S = 3_600.0

TRANSITIONS = Counter(
    "pointsman_credential_transitions_total", "Marks set and cleared", ("kind", "change", "cause")
)
DOUBTS = Counter(
    "pointsman_credential_doubts_total", "Statements about quota that were not believed", ("kind",)
)
PICKS = Counter("pointsman_credential_picks_total", "Credentials picked", ("bucket", "strategy"))
REFRESHES = Counter(
    "pointsman_credential_refreshes_total", "Refreshes of accounts' tokens", ("result",)
)

_log = get_logger("credentials")


def transition(one: Transition) -> None:
    """Log a stored transition, naming the credential by its fingerprint alone; a mark that only
    moved is no news."""
    change = "cleared" if one.is_cleared else "moved" if one.is_moved else "set"
    TRANSITIONS.labels(one.mark.kind.value, change, one.cause.value).inc()
    if one.is_moved:
        return
    _log.info(
        "credential_mark_cleared" if one.is_cleared else "credential_mark_set",
        kind=one.mark.kind.value,
        window=one.mark.window,
        model=one.mark.model_id or one.mark.family,
        cause=one.cause.value,
        fingerprint=one.fingerprint,
        expire_unix_s=one.mark.expire_unix_s,
    )


class Doubts:
    """Counts what was not believed; foreign words once each, a wrong clock once an hour."""

    def __init__(self) -> None:
        self._told: Bounded[Doubt, bool] = Bounded(MAX_DOUBTS, REPEAT_S)

    def tell(self, doubts: Iterable[Doubt], now_s: float) -> None:
        """Count doubts, and log those that are worth a line."""
        for doubt in doubts:
            is_word = bool(doubt.value)
            is_told = (is_word or doubt.kind == "clock_offset") and bool(
                self._told.get(doubt, now_s)
            )
            if is_word and is_told:
                continue
            DOUBTS.labels(doubt.kind).inc()
            if is_word or doubt.kind == "clock_offset":
                self._told.put(doubt, value=True, now_s=now_s)
                if not is_told:
                    _log.warning(
                        "quota_header_doubted",
                        kind=doubt.kind,
                        header=doubt.header,
                        value=doubt.value,
                    )
