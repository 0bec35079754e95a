"""A session as the one JSON document of its row, and back.

What a newer program wrote and this one does not know is dropped; what is missing has its default.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import orjson

from gateway.sessions.model import (
    Alias,
    BindingUse,
    Choice,
    History,
    Issued,
    MeanRisk,
    Pin,
    Risks,
    Round,
    Session,
    Strike,
    Strikes,
    TokenCounts,
)
from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.reading import dump, mapping, text
from services.domain.wire.state.kept import Kept, Place
from services.domain.wire.state.sealing import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from gateway.sessions.model import Address

    Part = TypeVar("Part")
    Members = Mapping[str, object]

_COLUMNS = ("address", "version")
"""Members that the row has columns for."""


class DocumentError(ValueError):
    """A stored document that cannot be read."""


def encode(session: Session) -> bytes:
    """Return the document of a session; half pairs in what an upstream said are U+FFFD."""
    members = {
        name: getattr(session, name)
        for name in Session.__dataclass_fields__
        if name not in _COLUMNS
    }
    return dump(members, _bytes_as_text)


def decode(document: bytes, address: Address, version: int) -> Session:
    """Return the session of a row.

    Raises:
        DocumentError: the document is damaged.
    """
    try:
        read = orjson.loads(document)
    except orjson.JSONDecodeError as error:
        raise DocumentError(str(error)) from error
    if not isinstance(read, dict):
        raise DocumentError("a session is an object")
    members = mapping(read)
    pin, history = members.get("pin"), members.get("history")
    return Session(
        address=address,
        version=version,
        pin=_pin(mapping(pin)) if pin else None,
        pin_epoch=_whole(members, "pin_epoch"),
        uses=_all(members, "uses", _use),
        has_ever_switched=members.get("has_ever_switched") is True,
        last_output_limit_unix_s=_moment(members, "last_output_limit_unix_s"),
        strikes=_strikes(mapping(members.get("strikes"))),
        risks=_risks(mapping(members.get("risks"))),
        history=_history(mapping(history)) if history else None,
        history_epoch=_whole(members, "history_epoch"),
        rounds=_all(members, "rounds", _round),
        escalation=text(members.get("escalation")),
        summary=_binary(members, "summary"),
        compaction=_binary(members, "compaction"),
        aliases=_all(members, "aliases", _alias),
        answers=_all(members, "answers", _issued),
        states=tuple(each for each in _all(members, "states", _kept) if each is not None),
        fit_ratio=max(1.0, _number(members, "fit_ratio")),
        last_seen_unix_s=_number(members, "last_seen_unix_s"),
    )


def _pin(members: Members) -> Pin:
    choice = mapping(members.get("choice"))
    return Pin(
        choice=Choice(**{name: text(choice.get(name)) for name in Choice.__dataclass_fields__}),
        until_unix_s=_number(members, "until_unix_s"),
        first_unix_s=_number(members, "first_unix_s"),
        turn_count=_whole(members, "turn_count"),
    )


def _use(members: Members) -> BindingUse:
    tokens = mapping(members.get("tokens"))
    return BindingUse(
        model_id=text(members.get("model_id")),
        provider=text(members.get("provider")),
        fingerprint=text(members.get("fingerprint")),
        tokens=TokenCounts(
            fresh=_whole(tokens, "fresh"),
            cache_read=_whole(tokens, "cache_read"),
            cache_write=_whole(tokens, "cache_write"),
            output=_whole(tokens, "output"),
        ),
        started_unix_s=_number(members, "started_unix_s"),
        ended_unix_s=_number(members, "ended_unix_s"),
        cache_ttl_s=_number(members, "cache_ttl_s"),
        history_epoch=_whole(members, "history_epoch"),
        estimated_tokens=_whole(members, "estimated_tokens"),
        is_output_limited=members.get("is_output_limited") is True,
    )


def _strikes(members: Members) -> Strikes:
    return Strikes(
        upstream_errors=_whole(members, "upstream_errors"),
        overloads=_whole(members, "overloads"),
        disabled_providers=_words(members, "disabled_providers"),
        models=_all(members, "models", _strike),
    )


def _strike(members: Members) -> Strike:
    return Strike(
        model_id=text(members.get("model_id")),
        reason=text(members.get("reason")),
        until_unix_s=_moment(members, "until_unix_s"),
    )


def _risks(members: Members) -> Risks:
    return Risks(
        means=_all(members, "means", _mean),
        action_count=_whole(members, "action_count"),
        counted_actions=_words(members, "counted_actions"),
    )


def _mean(members: Members) -> MeanRisk:
    return MeanRisk(text(members.get("model_id")), _number(members, "mean"))


def _history(members: Members) -> History:
    return History(
        message_count=_whole(members, "message_count"),
        tool_call_count=_whole(members, "tool_call_count"),
        seen_unix_s=_number(members, "seen_unix_s"),
    )


def _round(members: Members) -> Round:
    return Round(
        digest=_binary(members, "digest"),
        model_id=text(members.get("model_id")),
        provider=text(members.get("provider")),
        seen_unix_s=_number(members, "seen_unix_s"),
    )


def _alias(members: Members) -> Alias:
    return Alias(
        role=text(members.get("role")),
        key=_binary(members, "key"),
        seen_unix_s=_number(members, "seen_unix_s"),
    )


def _issued(members: Members) -> Issued:
    return Issued(**{name: text(members.get(name)) for name in Issued.__dataclass_fields__})


def _kept(members: Members) -> Kept | None:
    """Return a piece of state; None for one of a kind that is not known."""
    told = mapping(members.get("state"))
    place, family, kind = text(members.get("place")), text(told.get("family")), told.get("kind")
    if place not in tuple(Place) or kind not in KINDS or family not in tuple(WireFamily):
        return None
    state = ProviderState(
        family=WireFamily(family),
        kind=kind,
        payload=text(told.get("payload")),
        model=text(told.get("model")),
        item_id=text(told.get("item_id")),
    )
    return Kept(
        place=Place(place),
        call_id=text(members.get("call_id")),
        digest=text(members.get("digest")),
        state=state,
        words_digest=text(members.get("words_digest")),
    )


def _all(members: Members, name: str, read: Callable[[Members], Part]) -> tuple[Part, ...]:
    listed = members.get(name)
    return tuple(read(mapping(each)) for each in listed) if isinstance(listed, list) else ()


def _words(members: Members, name: str) -> tuple[str, ...]:
    listed = members.get(name)
    return tuple(text(each) for each in listed) if isinstance(listed, list) else ()


def _whole(members: Members, name: str) -> int:
    value = members.get(name)
    return value if isinstance(value, int) else 0


def _number(members: Members, name: str) -> float:
    value = members.get(name)
    return float(value) if isinstance(value, int | float) else 0.0


def _moment(members: Members, name: str) -> float | None:
    value = members.get(name)
    return float(value) if isinstance(value, int | float) else None


def _binary(members: Members, name: str) -> bytes:
    try:
        return base64.b64decode(text(members.get(name)), validate=True)
    except ValueError as error:
        raise DocumentError(f"{name} is damaged") from error


def _bytes_as_text(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(type(value).__name__)
