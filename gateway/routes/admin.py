"""What operators read with the admin token: the ledger."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import hmac
from typing import TYPE_CHECKING

from gateway.errors import error_of
from gateway.requests import new_action_id
from gateway.routes.envelope import document, refusal
from services.domain.errors import RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.model import ClientError, ErrorKind

if TYPE_CHECKING:
    from aiohttp import web
    from pydantic import SecretStr

    from gateway.model.record import LedgerRow
    from gateway.ports import LedgerPages

DEFAULT_ROWS = 100
MOST_ROWS = 1_000
_SCHEME = "bearer "


class Admin:
    """Serves the routes of operators; without a token of the configuration it serves nobody."""

    def __init__(self, ledger: LedgerPages, token: SecretStr) -> None:
        self._ledger = ledger
        self._token = token

    async def ledger(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer with rows in the order in which they were stored, and where the next ones begin.

        ``next_cursor`` is null after the last row; the cursor of the last page can be asked again
        for rows that were stored since.
        """
        denied = self._denied(request)
        if denied is not None:
            return denied
        try:
            after = place_of(request.query.get("cursor", ""))
            limit = _limit(request.query.get("limit", ""))
        except ValueError as error:
            return _refused(ErrorKind.INVALID_REQUEST, "invalid_request", str(error))
        try:
            found = await self._ledger.page(after, limit)
        except RouterError as error:
            request_id = new_action_id()
            return refusal(WireFamily.OPENAI_CHAT, request_id, error_of(error, request_id))
        more = cursor_of(found[-1][0]) if len(found) == limit else None
        entries = [entry_of(row) for _, row in found]
        return document({"entries": entries, "next_cursor": more})

    def _denied(self, request: web.BaseRequest) -> web.StreamResponse | None:
        wanted = self._token.get_secret_value()
        if not wanted:
            message = "the admin API is closed: set [gateway] admin_token"
            return _refused(ErrorKind.UNAVAILABLE, "admin_token_unset", message)
        shown = request.headers.get("authorization", "")
        token = shown[len(_SCHEME) :] if shown.lower().startswith(_SCHEME) else ""
        given = token.strip().encode("utf-8", "surrogateescape")
        if hmac.compare_digest(given, wanted.encode()):
            return None
        return _refused(
            ErrorKind.AUTHENTICATION, "invalid_admin_token", "the admin token is missing or wrong"
        )


def entry_of(row: LedgerRow) -> dict[str, object]:
    """Return a row as operators read it."""
    entry = dataclasses.asdict(row)
    written = row.cache_write_tokens
    short = None if written is None else written - row.cache_write_1h_tokens
    return {"request_id": row.request_id, **entry, "cache_write_5m_tokens": short}


def cursor_of(place: int) -> str:
    """Return a place in the ledger as a text that clients hand back."""
    return base64.urlsafe_b64encode(str(place).encode()).decode().rstrip("=")


def place_of(cursor: str) -> int:
    """Return the place of a cursor; empty: the beginning.

    Raises:
        ValueError: it is none of ours.
    """
    if not cursor:
        return 0
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        place = int(text.decode("ascii"))
    except (binascii.Error, ValueError):
        raise ValueError("cursor: take it from next_cursor, or leave it out") from None
    if not 0 <= place < 2**63:
        raise ValueError("cursor: take it from next_cursor, or leave it out")
    return place


def _limit(text: str) -> int:
    if not text:
        return DEFAULT_ROWS
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) > 0):
        raise ValueError(f"limit: a number from 1 to {MOST_ROWS}")
    return min(int(text), MOST_ROWS)


def _refused(kind: ErrorKind, code: str, message: str) -> web.StreamResponse:
    request_id = new_action_id()
    error = ClientError(kind=kind, message=message, code=code, request_id=request_id)
    return refusal(WireFamily.OPENAI_CHAT, request_id, error)
