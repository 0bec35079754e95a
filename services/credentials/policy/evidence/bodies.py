"""Reads error bodies for what they say about quota and money.

A body may be cut in the middle, so it is searched, not parsed: each pattern needs an unescaped
name, which text of a prompt inside a message cannot show.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.credentials.policy.evidence.times import instant, number, span_s

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_BYTES = 8 * 1_024

_WORD = re.compile(r'"(?:type|code|status|reason)"\s*:\s*"([^"\\]{1,80})"')
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.){0,400})')
_RESETS_AT = re.compile(r'"resets_at"\s*:\s*"?([^",}\s]{1,40})')
_RESETS_IN = re.compile(r'"resets_in_seconds"\s*:\s*"?([^",}\s]{1,40})')
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([^"]{1,40})"')
_QUOTA_ID = re.compile(r'"quotaId"\s*:\s*"([^"]{1,120})"')

BILLING_WORDS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"})
BILLING_TEXTS = ("insufficient_quota", "credit balance is too low", "billing_hard_limit")
FORBIDDEN_WORDS = frozenset({"permission_error", "permission_denied", "forbidden"})
UNSUPPORTED_WORDS = frozenset({"model_not_supported", "unsupported_model", "model_not_available"})
UNSUPPORTED_TEXTS = ("model is not supported", "not supported when using", "not available for your")


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """What an error body says; empty and None: nothing."""

    words: frozenset[str] = frozenset()
    """Its types, codes and reasons, folded."""
    message: str = ""
    resets_unix_s: float | None = None
    retry_delay_s: float | None = None
    is_daily: bool = False
    text: str = ""
    """The body, folded."""

    @property
    def is_about_money(self) -> bool:
        """Whether money is refused."""
        return bool(self.words & BILLING_WORDS) or any(t in self.text for t in BILLING_TEXTS)

    @property
    def is_forbidden(self) -> bool:
        """Whether a permission is missing, by the provider's own word."""
        return bool(self.words & FORBIDDEN_WORDS)

    @property
    def is_unsupported_model(self) -> bool:
        """Whether the account may not use the model."""
        return bool(self.words & UNSUPPORTED_WORDS) or any(
            text in self.message for text in UNSUPPORTED_TEXTS
        )

    @property
    def is_overload(self) -> bool:
        """Whether the provider has too much to do."""
        return "overloaded_error" in self.words

    @property
    def is_plan_exhausted(self) -> bool:
        """Whether a Codex plan is used up."""
        return "usage_limit_reached" in self.words

    @property
    def is_organisation_wide(self) -> bool:
        """Whether the account as a whole is meant."""
        return "organization" in self.message


NO_FACTS = BodyFacts()


def facts_of(body: bytes, receive_unix_s: float) -> BodyFacts:
    """Return what an error body says."""
    if not body:
        return NO_FACTS
    text = body[:MAX_BYTES].decode("utf-8", "replace")
    message = _MESSAGE.search(text)
    quota_ids = _QUOTA_ID.findall(text)
    return BodyFacts(
        words=frozenset(word.casefold() for word in _WORD.findall(text)),
        message=message[1].casefold() if message else "",
        resets_unix_s=_resets(text, receive_unix_s),
        retry_delay_s=_first(_RETRY_DELAY, text, span_s),
        is_daily=any("perday" in quota.casefold() for quota in quota_ids),
        text=text.casefold(),
    )


def _resets(text: str, receive_unix_s: float) -> float | None:
    at = _first(_RESETS_AT, text, instant)
    if at is not None:
        return at
    after_s = _first(_RESETS_IN, text, number)
    return receive_unix_s + after_s if after_s else None


def _first(
    pattern: re.Pattern[str], text: str, read: Callable[[str], float | None]
) -> float | None:
    found = pattern.search(text)
    return read(found[1]) if found else None
