"""The steps by which a conversation is brought under its limits: clear, summarise, trim. Pure.

A cascade belongs to one question. It makes drafts and says which of them will do; in which order
they are tried, and who writes the summary, is the server's to see to.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from services.handover.model.compaction import Checkpoint, Draft
from services.handover.policy import reuse
from services.handover.policy.history import read
from services.handover.policy.results import Results
from services.handover.policy.sizes import overflow_tokens
from services.handover.policy.structured import INSTRUCTION_VERSION, continued
from services.handover.policy.transcript import transcript_of
from services.handover.policy.window import cut, prompts, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.handover.model import BindingRef, StoredSummary
    from services.handover.model.compaction import CompactionQuestion
    from services.handover.policy.history import History
    from services.handover.policy.window import Starts

TRIM_LADDER = (12, 6, 3, 1)
"""Newest messages that trimming keeps, step by step."""


class Cascade:
    """Makes drafts of one conversation."""

    def __init__(self, question: CompactionQuestion, now_unix_s: float) -> None:
        """Read the conversation.

        Raises:
            WireError: it cannot be read, or is no list of messages.
        """
        self._question = question
        self._limits = question.limits
        self._family = question.family
        self._now_unix_s = now_unix_s
        self._original = read(question.family, question.body)
        self._cleared: dict[int, History] = {0: self._original}
        self._results = Results(question.family, question.body)
        self.clearable = max(0, self._results.count - max(0, self._limits.kept_results))
        """Outputs of tools that may be cleared."""

    @cached_property
    def _starts(self) -> Starts:
        return starts_of(self._original)

    @property
    def kept(self) -> Checkpoint | None:
        """What an earlier compaction left that still holds; None: nothing."""
        kept = self._question.checkpoint
        if kept is None or self._question.is_history_trimmed:
            return None
        return kept if kept.limits_digest == self._limits.digest else None

    @property
    def kept_clearing(self) -> int:
        """Outputs that an earlier compaction cleared."""
        return min(self.kept.cleared_results, self.clearable) if self.kept is not None else 0

    @property
    def kept_summary(self) -> StoredSummary | None:
        """A summary of an earlier compaction that the conversation still begins with."""
        stored = self.kept.summary if self.kept is not None else None
        if stored is None or stored.message_count not in self._starts:
            return None
        is_same = reuse.is_current(stored, self._now_unix_s, INSTRUCTION_VERSION)
        count = stored.message_count
        return stored if is_same and self._original.digest(count) == stored.prefix_digest else None

    def is_below_trigger(self, draft: Draft) -> bool:
        """Return whether a draft leaves the conversation its room to grow."""
        return self._limits.is_below_trigger(draft.tokens)

    def is_fitting(self, draft: Draft) -> bool:
        """Return whether a draft fits the largest window."""
        return self._limits.is_fitting(draft.tokens)

    def whole(self, cleared_results: int) -> Draft:
        """Return the whole conversation with its oldest outputs cleared."""
        body = self._results.cleared(cleared_results)
        return Draft(body, overflow_tokens(self._family, body), cleared_results)

    def summarized(self, start: int, text: str, cleared_results: int) -> Draft:
        """Return the conversation with a summary in the place of all before ``start``."""
        return self._cut(start, text, cleared_results)

    def summary_start(self) -> int | None:
        """Return where the part begins that a new summary leaves; None: there is no such place.

        Raises:
            WireError: what goes before could not be told again, so that no summary is worth it.
        """
        start = self._starts.nearest(len(self._original.spoken) - self._limits.kept_messages)
        if start:
            self._original.digest(start)
        return start or None

    def trimmed(self, text: str | None, cleared_results: int) -> Iterator[Draft]:
        """Yield ever shorter ends of the conversation, with a summary where there is one."""
        count = len(self._original.spoken)
        for newest in TRIM_LADDER:
            start = self._starts.nearest(count - newest)
            if start:
                for words in (text, None) if text is not None else (None,):
                    yield self._cut(start, words, cleared_results, newest)

    def transcripts(self, start: int) -> Iterator[str]:
        """Yield what a summary up to ``start`` is made from: with all outputs, then without."""
        stored = self.kept_summary
        earlier, begin = "", 0
        if stored is not None and stored.message_count <= start:
            earlier, begin = stored.text, stored.message_count
        for count in dict.fromkeys((0, self.clearable)):
            turns = self._with_cleared(count).turns(begin, start)
            yield continued(earlier, transcript_of(turns))

    def prompts(self, start: int) -> Iterator[str]:
        """Yield the user's messages before ``start``, oldest first."""
        return prompts(self._original.spoken[:start])

    def checkpoint(self, cleared_results: int, summary: StoredSummary | None) -> Checkpoint | None:
        """Return what is worth keeping of a compaction; None: nothing that is not kept already."""
        made = Checkpoint(
            limits_digest=self._limits.digest,
            cleared_results=cleared_results,
            summary=summary,
            kept_messages=len(self._original.spoken) - summary.message_count if summary else 0,
        )
        kept = self.kept
        is_known = (
            kept is not None and kept.cleared_results == cleared_results and kept.summary == summary
        )
        return None if is_known else made

    def stored(self, start: int, text: str, author: BindingRef) -> StoredSummary:
        """Return a new summary with what it stands for."""
        return reuse.to_keep(
            self._original, start, text, author, self._now_unix_s, INSTRUCTION_VERSION
        )

    def _cut(self, start: int, text: str | None, cleared_results: int, trimmed: int = 0) -> Draft:
        body = cut(self._with_cleared(cleared_results), start, text)
        return Draft(
            body,
            overflow_tokens(self._family, body),
            cleared_results,
            is_summarized=text is not None,
            trimmed_messages=trimmed,
        )

    def _with_cleared(self, count: int) -> History:
        history = self._cleared.get(count)
        if history is None:
            history = self._cleared[count] = read(self._family, self._results.cleared(count))
        return history
