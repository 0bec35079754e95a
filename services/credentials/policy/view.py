"""A lane as one model sees it: who is free, in which bucket, and what stands against the rest.

A pick reads this and looks at single candidates only where the question itself bars some, so that
its cost hardly grows with the pool.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from services.credentials.model import Bucket, Credential, Judged, Verdict
from services.credentials.policy.matching import serves
from services.credentials.policy.standing import NEVER, Standing, standing_of
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.credentials.model import Subject


class Entry(NamedTuple):
    """One candidate and how it stands."""

    credential: Credential
    standing: Standing


class Tier(NamedTuple):
    """Those that are offered to the strategy."""

    bucket: Bucket
    priority: int
    members: tuple[Credential, ...]


@dataclass(frozen=True, slots=True)
class View:
    """One lane towards one model at one instant; immutable."""

    lane: tuple[Credential, ...]
    subject: Subject
    entries: Mapping[str, Entry] = field(repr=False)
    free: tuple[Credential, ...]
    barred: tuple[Judged, ...]
    tier: Tier | None
    """None: nobody is free."""
    is_plain: bool
    """Whether nothing depends on the question: no limits and no plans in the lane."""
    change_unix_s: float
    """Earliest instant at which time alone changes this."""

    @classmethod
    def of(
        cls,
        lane: tuple[Credential, ...],
        subject: Subject,
        now_unix_s: float,
        earlier: View | None = None,
        *,
        prefix: str = "",
        is_prefix_forced: bool = False,
    ) -> View:
        """Return the view of a lane; how unchanged candidates stand is taken from ``earlier``.

        ``prefix`` is the namespace that the model was asked in; empty: none.
        """
        known = earlier.entries if earlier is not None else {}
        entries: dict[str, Entry] = {}
        free: list[Credential] = []
        barred: list[Judged] = []
        change = NEVER
        for credential in lane:
            entry = known.get(credential.id)
            if (
                entry is None
                or entry.credential is not credential
                or entry.standing.change_unix_s <= now_unix_s
            ):
                entry = Entry(credential, standing_of(credential, subject, now_unix_s))
            entries[credential.id] = entry
            standing = entry.standing
            change = min(change, standing.change_unix_s)
            own = credential.spec.model_prefix
            if own != prefix and (prefix or is_prefix_forced):
                against: Judged | None = Judged(credential, Verdict.PREFIX)
            else:
                against = _against(credential, standing, subject)
            if against is None:
                free.append(credential)
            else:
                barred.append(against)
        return cls(
            lane=lane,
            subject=subject,
            entries=entries,
            # The lane itself where all are free: remembered decisions then share one tuple.
            free=tuple(free) if barred else lane,
            barred=tuple(barred),
            tier=tier_of(free, entries),
            is_plain=not any(
                c.spec.is_plan or c.spec.max_in_flight or c.spec.max_in_flight_per_model
                for c in lane
            ),
            change_unix_s=change,
        )


def tier_of(free: Iterable[Credential], entries: Mapping[str, Entry]) -> Tier | None:
    """Return the best bucket that is not empty, and its highest priority; None: nobody is free."""
    best: tuple[int, int] | None = None
    members: list[Credential] = []
    for credential in free:
        rank = (entries[credential.id].standing.bucket, -credential.priority)
        if best is None or rank < best:
            best, members = rank, [credential]
        elif rank == best:
            members.append(credential)
    return None if best is None else Tier(Bucket(best[0]), -best[1], tuple(members))


def _against(credential: Credential, standing: Standing, subject: Subject) -> Judged | None:
    """Return what bars a candidate whatever is asked; None: nothing."""
    if not serves(credential.spec, subject.model_id):
        return Judged(credential, Verdict.EXCLUDED)
    if not credential.is_usable:
        return Judged(credential, Verdict.DISABLED)
    if subject.is_beyond_codex and credential.spec.kind is CredentialKind.CODEX_OAUTH:
        return Judged(credential, Verdict.PLAN)
    if standing.verdict is not None:
        return Judged(credential, standing.verdict, standing.until_unix_s, standing.window)
    return None
