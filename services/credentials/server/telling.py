"""What the service says about marks: one log line per transition, and counters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.credentials.model import BUCKET_WORDS, Bucket
from services.credentials.policy.standing import standing_of
from services.credentials.server.bounded import Bounded
from services.runtime.log import get_logger
from services.runtime.tallies import Counter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model import Decision, Pick, Transition
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
FALLBACKS = Counter(
    "pointsman_credential_fallback_picks_total",
    "Picks of credentials that come last, made because no better one was free",
    ("bucket",),
)
SWITCHES_AVOIDED = Counter(
    "pointsman_credential_switches_avoided_total",
    "Picks that left a session on its credential while others were free",
)
WRITES_REPEATED = Counter(
    "pointsman_credential_writes_repeated_total",
    "Writes that were tried again because another process was faster",
)
REFRESHES = Counter(
    "pointsman_credential_refreshes_total", "Refreshes of accounts' tokens", ("result",)
)

_log = get_logger("credentials")


def picked(decision: Decision, pick: Pick) -> None:
    """Count a pick; that nobody clean was free is no event for the log."""
    bucket = BUCKET_WORDS[pick.bucket]
    PICKS.labels(bucket, pick.strategy.value).inc()
    if pick.is_affinity_hit and len(decision.free) > 1:
        SWITCHES_AVOIDED.inc()
    if pick.bucket is not Bucket.CLEAN and not _is_clean_one_free(decision, pick):
        FALLBACKS.labels(bucket).inc()


def _is_clean_one_free(decision: Decision, pick: Pick) -> bool:
    """Return whether a session stayed on a worse one by its own will: nothing else makes a pick
    worse than it must be."""
    return pick.is_affinity_hit and any(
        standing_of(one, decision.subject, decision.now_unix_s).bucket is Bucket.CLEAN
        for one in decision.free
    )


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
