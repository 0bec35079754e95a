"""One piece of state as a text that any client can keep: base64url of a tagged, checked record.

The text is at once a legal signature of every dialect (Gemini's SDK decodes and encodes it) and a
legal part of an id. Its first characters are the same always, so that it is told from what vendors
issue wherever it turns up.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from typing import TYPE_CHECKING, Literal, NamedTuple

from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState

if TYPE_CHECKING:
    from collections.abc import Iterable

_TAG = b"pointsman"
MARK = base64.urlsafe_b64encode(_TAG).decode("ascii")
"""What every sealed text begins with: the tag has a length that base64 keeps apart."""

MAX_ID_STATE_CHARS = 4096
"""Longest sealed text that goes into an id; longer state has only the ledger."""

_DELIMITER = "-"
_CUT_MARKS = tuple(_DELIMITER + MARK[:size] for size in range(len(MARK) - 1, 3, -1))
_BLANK = re.compile(r"\s+")
_CHECK_BYTES = 4
KINDS: tuple[Literal["signature", "encrypted", "redacted"], ...] = (
    "signature",
    "encrypted",
    "redacted",
)


class Sealed(NamedTuple):
    """State with what it belongs to."""

    state: ProviderState
    words_digest: str = ""
    """Digest of the thought that it signs; empty: it stands for itself."""
    is_of_call: bool = False
    """Whether it belongs to the call that follows, not to a thought."""


class WordsDigest:
    """The digest of a text that comes in pieces; empty for no text."""

    def __init__(self, *, is_exact: bool) -> None:
        self._is_exact = is_exact
        """Clients trim what they show: an inexact digest leaves blanks out."""
        self._hash = hashlib.sha256()
        self._is_empty = True

    def add(self, words: str) -> None:
        """Take the next piece."""
        told = words if self._is_exact else _BLANK.sub("", words)
        if told:
            self._is_empty = False
            self._hash.update(told.encode("utf-8", "surrogatepass"))

    @property
    def value(self) -> str:
        """The digest of what came so far."""
        return "" if self._is_empty else self._hash.hexdigest()[:16]


def words_digest(words: Iterable[str], *, is_exact: bool = True) -> str:
    """Return the digest of a text."""
    digest = WordsDigest(is_exact=is_exact)
    for each in words:
        digest.add(each)
    return digest.value


def seal(sealed: Sealed) -> str:
    """Return the text that carries a piece of state."""
    state = sealed.state
    record = [
        state.family.value,
        state.kind,
        state.payload,
        state.model,
        state.item_id,
        sealed.words_digest,
        sealed.is_of_call,
    ]
    told = json.dumps(record, separators=(",", ":")).encode("ascii")
    check = zlib.crc32(told).to_bytes(_CHECK_BYTES)
    return base64.urlsafe_b64encode(_TAG + check + told).decode("ascii").rstrip("=")


def is_sealed(words: str) -> bool:
    """Return whether a text is state that we gave to a client."""
    return words.startswith(MARK)


def unseal(words: str) -> Sealed | None:
    """Return the state that a sealed text carries; None when it is damaged."""
    plain = words.replace("+", "-").replace("/", "_").rstrip("=")
    try:
        opened = base64.b64decode(plain + "=" * (-len(plain) % 4), b"-_", validate=True)
        check, told = opened[len(_TAG) :][:_CHECK_BYTES], opened[len(_TAG) + _CHECK_BYTES :]
        if zlib.crc32(told).to_bytes(_CHECK_BYTES) != check:
            return None
        record = json.loads(told)
    except (binascii.Error, ValueError, RecursionError):
        return None
    return _read(record)


def _read(record: object) -> Sealed | None:
    if not isinstance(record, list) or len(record) != 7:
        return None
    *words, is_of_call = record
    if not all(isinstance(each, str) for each in words):
        return None
    family, name, payload, model, item_id, digest = words
    kind = next((known for known in KINDS if known == name), None)
    issuer = next((known for known in WireFamily if known.value == family), None)
    if kind is None or issuer is None or not payload:
        return None
    state = ProviderState(issuer, kind, payload, model, item_id)
    return Sealed(state, digest, is_of_call is True)


def with_state(call_id: str, state: ProviderState) -> str:
    """Return a call's id with its state behind it; the id alone when the state is too long.

    An id that has state already is given the new one in its place.
    """
    clean, _ = split_id(call_id)
    sealed = seal(Sealed(state, is_of_call=True))
    if len(sealed) > MAX_ID_STATE_CHARS:
        return clean
    return f"{clean}{_DELIMITER}{sealed}"


def split_id(call_id: str) -> tuple[str, ProviderState | None]:
    """Return an id without what it carries, and the state; None: it has none, or a damaged one."""
    clean, mark, rest = call_id.partition(_DELIMITER + MARK)
    if not mark:
        return _uncut(call_id), None
    sealed = unseal(MARK + rest)
    return clean, sealed.state if sealed is not None else None


def _uncut(call_id: str) -> str:
    """Return an id without what is left of a tag that its client cut."""
    if not call_id.endswith(_CUT_MARKS):
        return call_id
    return call_id.rpartition(_DELIMITER)[0]


def has_state(call_id: str) -> bool:
    """Return whether an id carries state, damaged or not."""
    return _DELIMITER + MARK in call_id


def clean_id(call_id: str) -> str:
    """Return an id as vendors may see it."""
    return split_id(call_id)[0]
