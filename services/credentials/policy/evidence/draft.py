"""Marks while one observation is applied: what changes, and which of it is a transition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import Cause, MarkKind, Transition

if TYPE_CHECKING:
    from services.credentials.model import Credential, Mark, MarkKey
    from services.credentials.policy.evidence.rules import Doubt

MEMORY_OF_ENDED_S = 3_600.0
"""How long an ended mark is kept: no report is later, and so long its step of the ladder counts."""
MEMORY_OF_REFUSALS_S = 86_400.0
"""The same for a refused secret, which is seldom tried."""
STARTS_ANEW = -1


class Draft:
    """The marks of one credential, changed in place; lapsed ones are noted first."""

    def __init__(self, credential: Credential, now_unix_s: float) -> None:
        self.credential = credential
        self.now_unix_s = now_unix_s
        self.marks: dict[MarkKey, Mark] = {mark.key: mark for mark in credential.marks}
        self.transitions: list[Transition] = []
        self.doubts: list[Doubt] = []
        for mark in credential.marks:
            if mark.is_lapsed(now_unix_s):
                self.end(mark, mark.expire_unix_s or now_unix_s, Cause.RESET)

    def put(self, mark: Mark, cause: Cause) -> None:
        """Set a mark, or move the end of one that stands."""
        old = self.marks.get(mark.key)
        if mark == old:
            return
        self.marks[mark.key] = mark
        is_moved = old is not None and old.end_unix_s is None
        self._note(mark, cause, is_cleared=False, is_moved=is_moved)

    def end(self, mark: Mark, end_unix_s: float, cause: Cause, *, level: int | None = None) -> None:
        """End a mark that stands."""
        kept = mark.level if level is None else level
        self.marks[mark.key] = replace(mark, end_unix_s=end_unix_s, level=kept)
        self._note(mark, cause, is_cleared=True)

    def forget_level(self, mark: Mark) -> None:
        """Let the ladder of an ended mark start anew, which is no transition."""
        self.marks[mark.key] = replace(mark, level=STARTS_ANEW)

    def result(self, **changes: object) -> Credential:
        """Return the credential with these marks; the same value where nothing changed."""
        before = self.credential
        marks = tuple(self.marks.values())
        if marks != before.marks:
            marks = tuple(mark for mark in marks if not self._is_forgotten(mark))
        elif all(getattr(before, name) == value for name, value in changes.items()):
            return before
        return replace(before, marks=marks, **changes)  # type: ignore[arg-type]  # any field of it

    def _is_forgotten(self, mark: Mark) -> bool:
        if mark.end_unix_s is None:
            return False
        memory_s = MEMORY_OF_REFUSALS_S if mark.kind is MarkKind.AUTH else MEMORY_OF_ENDED_S
        return mark.end_unix_s + memory_s <= self.now_unix_s

    def _note(self, mark: Mark, cause: Cause, *, is_cleared: bool, is_moved: bool = False) -> None:
        fingerprint = self.credential.fingerprint
        self.transitions.append(Transition(fingerprint, mark, is_cleared, cause, is_moved))
