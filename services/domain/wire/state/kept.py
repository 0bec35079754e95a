"""What a session keeps of the state that its client may lose, and how it is found again.

Clients normalise ids, cut them, or make their own. A call is known by its id first, however it came
back, and by its name and arguments second.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.wire.model import Role, Text, ToolUse
from services.domain.wire.reading import join_surrogates, load
from services.domain.wire.state.sealing import clean_id, words_digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from services.domain.wire.model import ProviderState, Request, Turn


class Place(enum.StrEnum):
    """Where state belongs in a turn."""

    CALL = "call"
    BEFORE_CALL = "before_call"
    AFTER_TEXT = "after_text"


MAX_DIGESTED_BYTES = 256 * 1024
"""Arguments that are longer have no digest: their calls are known by id alone."""

MIN_CUT_CHARS = 12
"""Characters that must be left of an id which was cut."""

NONCE = re.compile(r"_n[0-9a-f]{6}(?:-\d+)?$")
"""What makes an id unique that some upstreams give again in every answer."""

_ODD = re.compile(r"[^a-z0-9]")


@dataclass(frozen=True, slots=True)
class Kept:
    """One piece of state in a session's ledger."""

    place: Place
    call_id: str
    """Id of the call, as its upstream gave it; empty behind a text."""
    digest: str
    """Of the call's name and arguments, or of the text; empty: not known."""
    state: ProviderState
    words_digest: str = ""
    """Of the thought that the state signs; empty: it stands for itself."""


@dataclass(frozen=True, slots=True)
class Restored:
    """One piece of state and its place in a request, whose client lost it.

    ``key`` is the id of the call as the request has it, or the digest of the text.
    """

    place: Place
    key: str
    state: ProviderState
    words_digest: str = ""


def call_digest(name: str, arguments: bytes) -> str:
    """Return what a call is known by where its id is lost; empty: not to be told."""
    if len(arguments) > MAX_DIGESTED_BYTES:
        return ""
    try:
        told = json.dumps([name, load(arguments)], sort_keys=True)
    except (ValueError, RecursionError):
        return ""
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def lost_state(request: Request, kept: Sequence[Kept]) -> tuple[Restored, ...]:
    """Return the kept state that a request lacks, each with the place where it belongs."""
    if not kept:
        return ()
    of_calls = [each for each in kept if each.place is not Place.AFTER_TEXT]
    of_texts = [each for each in kept if each.place is Place.AFTER_TEXT]
    found: list[Restored] = []
    for turn in request.turns:
        if turn.role is not Role.ASSISTANT:
            continue
        for block in turn.blocks:
            if isinstance(block, ToolUse):
                found += _of_call(block, of_calls)
        digest = text_digest(turn) if of_texts else ""
        found += [
            Restored(Place.AFTER_TEXT, digest, each.state, each.words_digest)
            for each in of_texts
            if digest and each.digest == digest
        ]
    return tuple(found)


def text_digest(turn: Turn) -> str:
    """Return the digest of what a turn says."""
    said = (block.text for block in turn.blocks if isinstance(block, Text))
    return words_digest(said, is_exact=False)


def _of_call(call: ToolUse, kept: Iterable[Kept]) -> list[Restored]:
    """Return the state of one call: all that the entry of the best likeness has.

    A call whose id is no Unicode gets none: no message could name it.
    """
    if join_surrogates(call.call_id) != call.call_id:
        return []
    digest = call_digest(call.name, call.arguments)
    ranked = [(_likeness(call.call_id, digest, each), each) for each in kept]
    best = max((rank for rank, _ in ranked), default=0)
    if not best:
        return []
    # The latest of equals: an upstream that numbers its calls anew gives old ids again.
    matched = [each for rank, each in ranked if rank == best]
    latest = matched[-1]
    return [
        Restored(each.place, call.call_id, each.state, each.words_digest)
        for each in matched
        if (each.call_id, each.digest) == (latest.call_id, latest.digest)
        and not (each.place is Place.CALL and _has_state_of(call, each))
    ]


def _has_state_of(call: ToolUse, kept: Kept) -> bool:
    return any(state.family is kept.state.family for state in call.state)


def _likeness(call_id: str, digest: str, kept: Kept) -> int:
    """Return how surely a call is the one of an entry; 0: it is not."""
    is_same_call = bool(digest) and digest == kept.digest
    shown = NONCE.sub("", clean_id(call_id))
    if not shown:
        return int(is_same_call)
    told, own = _ODD.sub("", shown.casefold()), _ODD.sub("", kept.call_id.casefold())
    if shown == kept.call_id:
        likeness = 6
    elif told == own:
        likeness = 4
    elif len(told) >= MIN_CUT_CHARS and (own.startswith(told) or told.startswith(own)):
        likeness = 2
    else:
        likeness = 0
    return likeness + is_same_call
