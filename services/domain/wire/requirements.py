"""Which needs of a request a target cannot meet, and how strictly that counts.

Media, files and native blocks would be lost: a target that cannot carry them is never asked. Other
needs can be met by halves, with a record of what was left out; the mode says whether that may be.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from services.domain.wire.features import Requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.domain.catalog import ModelFacts


class RequirementMode(enum.StrEnum):
    """How strictly the needs of requests count."""

    OFF = "off"
    """Not at all; for emergencies."""
    SHADOW = "shadow"
    """What would be lost counts; what is met by halves is reported."""
    ENFORCE = "enforce"
    """All count."""


WAIVED = frozenset([Requirement.SERVER_TOOLS, Requirement.MANY_TOOLS, Requirement.FORCED_CALL])
"""Needs that are let go, with a record, when nothing that meets them may serve."""

_NATIVE = frozenset([Requirement.SERVER_TOOLS, Requirement.CITATIONS, Requirement.LOGPROBS])
"""Needs that only the request's own dialect meets: answers of others do not carry them."""
_NEVER_TRANSLATED: Mapping[WireFamily, frozenset[Requirement]] = {
    WireFamily.ANTHROPIC: frozenset(
        {
            Requirement.AUDIO,
            Requirement.VIDEO,
            Requirement.VENDOR_FILE,
            Requirement.MULTI_CANDIDATE,
        }
    ),
    WireFamily.OPENAI_CHAT: frozenset(
        {
            Requirement.VIDEO,
            Requirement.VENDOR_FILE,
            Requirement.REMOTE_DOCUMENT,
            Requirement.OTHER_AUDIO,
        }
    ),
    WireFamily.OPENAI_RESPONSES: frozenset(
        {
            Requirement.VIDEO,
            Requirement.VENDOR_FILE,
            Requirement.MULTI_CANDIDATE,
            Requirement.OTHER_AUDIO,
        }
    ),
    WireFamily.GEMINI: frozenset(
        {Requirement.REMOTE_IMAGE, Requirement.REMOTE_DOCUMENT, Requirement.VENDOR_FILE}
    ),
}
"""What has no form in a dialect, for a request that comes from another one."""


def untranslatable(
    requirements: tuple[Requirement, ...], source: WireFamily, target: WireFamily
) -> tuple[Requirement, ...]:
    """Return what of a request's needs ``target`` cannot express; nothing in its own dialect."""
    if source is target:
        return ()
    never = _NEVER_TRANSLATED.get(target, frozenset())
    return tuple(need for need in requirements if need in never)


def is_carried(needs: Sequence[Requirement], source: WireFamily, target: WireFamily) -> bool:
    """Return whether nothing of a request from ``source`` would be lost on the way to ``target``.

    Opaque reasoning state is no such need: it is left out where nobody could read it.
    """
    is_foreign_block = Requirement.NATIVE_ONLY in needs and source is not target
    return not is_foreign_block and not untranslatable(tuple(needs), source, target)


def unmet(
    needs: Sequence[Requirement], source: WireFamily, target: WireFamily, facts: ModelFacts
) -> tuple[Requirement, ...]:
    """Return the needs that a target which carries the request meets by halves only."""
    return tuple(need for need in needs if _is_unmet(need, source, target, facts))


def _is_unmet(need: Requirement, source: WireFamily, target: WireFamily, facts: ModelFacts) -> bool:
    if need in _NATIVE:
        return source is not target
    if need is Requirement.STRUCTURED_OUTPUT:
        return not facts.structured_output
    if need is Requirement.FORCED_CALL:
        return not facts.forced_tool_use
    if need is Requirement.MANY_TOOLS:
        is_limited = target is WireFamily.OPENAI_CHAT and not facts.many_tools
        return is_limited and source is not target
    return False
