"""Marks: what upstreams said about a credential, as it is remembered."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

CALENDAR_END_UNIX_S = 253_402_300_800.0
"""The year 10,000: no message holds a later moment."""
FIVE_HOURS = "5h"
SEVEN_DAYS = "7d"
OVERAGE_INCLUDED = "7d_oi"
UNIFIED_WINDOWS = (FIVE_HOURS, SEVEN_DAYS, OVERAGE_INCLUDED)
"""Quota windows of Claude accounts."""
CODEX_WINDOWS = ("primary", "secondary")
"""Quota windows of Codex accounts."""
WINDOW_LENGTHS_S = {
    FIVE_HOURS: 5 * 3_600.0,
    SEVEN_DAYS: 7 * 86_400.0,
    OVERAGE_INCLUDED: 7 * 86_400.0,
    "primary": 300 * 60.0,
    "secondary": 10_080 * 60.0,
}
"""Length of each window where nothing else is said."""


class MarkKind(enum.StrEnum):
    """Names a kind of remembered evidence."""

    WARNING = "warning"
    QUOTA = "quota"
    OVERAGE = "overage"
    AUTH = "auth"
    UNSUPPORTED = "unsupported"
    BILLING = "billing"


SOFT_MARKS = frozenset({MarkKind.WARNING, MarkKind.OVERAGE})
"""Marks that only de-prefer; every other kind blocks."""


class Subject(NamedTuple):
    """What a question is about: a canonical model and its family; empty texts are none."""

    model_id: str
    family: str
    is_beyond_codex: bool = False
    """Whether the catalog knows it and no Codex plan covers it."""


NO_SUBJECT = Subject("", "")
"""No model in particular: marks of single models and families do not count."""


class MarkKey(NamedTuple):
    """What makes two marks of a credential the same mark."""

    kind: MarkKind
    window: str
    model_id: str
    family: str
    feature: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One remembered piece of upstream evidence; times in seconds since 1970.

    An ended mark stays for a while: late evidence from before its end must not bring it back, and
    the next failure goes on from its step of the ladder.
    """

    kind: MarkKind
    observe_unix_s: float
    """Instant of the evidence that it rests on."""
    expire_unix_s: float | None = None
    """At this very instant it no longer counts. None: it does not lapse by itself."""
    model_id: str = ""
    """Canonical model it is limited to; empty: all."""
    family: str = ""
    """Family of models it is limited to; empty: all."""
    window: str = ""
    feature: str = ""
    level: int = 0
    """Step of the back-off ladder, from 0; -1 on an ended one: the ladder starts anew."""
    utilization_ratio: float | None = None
    end_unix_s: float | None = None
    """Instant at which it was cleared, or lapsed and was noted as such. None: it stands."""

    @property
    def key(self) -> MarkKey:
        """What makes two marks of a credential the same mark."""
        return MarkKey(self.kind, self.window, self.model_id, self.family, self.feature)

    @property
    def turn_unix_s(self) -> float:
        """Instant of its last transition: evidence from before says nothing about it."""
        return self.observe_unix_s if self.end_unix_s is None else self.end_unix_s

    def is_active(self, now_unix_s: float) -> bool:
        """Return whether it counts now."""
        if self.end_unix_s is not None:
            return False
        return self.expire_unix_s is None or self.expire_unix_s > now_unix_s

    def is_lapsed(self, now_unix_s: float) -> bool:
        """Return whether its time has passed and nobody has noted that yet."""
        end = self.expire_unix_s
        return self.end_unix_s is None and end is not None and end <= now_unix_s

    def concerns(self, subject: Subject) -> bool:
        """Return whether it is about a model."""
        return (
            not self.feature
            and self.model_id in ("", subject.model_id)
            and self.family in ("", subject.family)
        )


def in_order(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Return marks as records have them, so that equal ones are equal in every process."""
    return tuple(sorted(marks, key=lambda mark: mark.key))
