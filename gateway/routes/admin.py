"""The admin API over HTTP: who may order, and the order read out of a request."""

from __future__ import annotations

import hmac
import ipaddress
from typing import TYPE_CHECKING

import orjson
from aiohttp import web

from gateway.answering.headers import error_headers
from gateway.body import read_body
from gateway.errors import error_of
from gateway.identity import bearer_token
from gateway.ids import new_action_id
from gateway.office.desk import ROOT
from gateway.office.model import DEFAULT_ACTOR, Order
from gateway.routes.envelope import document
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.errors import status_of
from services.domain.wire.model import ClientError, ErrorKind, WireError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pydantic import SecretStr

    from gateway.office.desk import Office
    from gateway.office.model import Document, Operation
    from gateway.routes.table import Routes

MOST_BODY_BYTES = 1024 * 1024
LONGEST_ACTOR = 200
ACTOR_HEADER = "x-router-actor"
IDEMPOTENCY_HEADER = "idempotency-key"
LONGEST_KEY = 64
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

_log = get_logger("gateway")


def is_local(remote: str | None) -> bool:
    """Return whether a peer is on this machine; one without an address is."""
    if not remote:
        return True
    try:
        address = ipaddress.ip_address(remote.partition("%")[0])
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


class Admin:
    """Serves operators; without a token of the configuration it serves nobody."""

    def __init__(
        self,
        office: Office,
        token: SecretStr,
        *,
        is_plaintext_secret_allowed: bool = False,
        is_local: Callable[[str | None], bool] = is_local,
    ) -> None:
        self._office = office
        self._token = token
        self._is_local = is_local
        self._is_plaintext_secret_allowed = is_plaintext_secret_allowed

    @property
    def prefixes(self) -> Routes:
        """The routes."""
        return {ROOT: dict.fromkeys(_METHODS, self.serve)}

    async def serve(self, request: web.BaseRequest) -> web.StreamResponse:
        """Carry out one order and answer what came of it."""
        answer = await self._answer(request)
        answer.headers["cache-control"] = "no-store"
        return answer

    async def _answer(self, request: web.BaseRequest) -> web.Response:
        request_id = new_action_id()
        denied = self._denied(request, request_id)
        if denied is not None:
            return denied
        offered = self._office.find(request.path)
        method = "GET" if request.method == "HEAD" else request.method
        if not offered:
            message = f"no route {request.path[:200]}"
            return _refused(request_id, ErrorKind.NOT_FOUND, "route_not_found", message)
        if method not in offered:
            return _wrong_method(request_id, method, offered)
        operation, names = offered[method]
        answer = await self._answered(request, operation, names, request_id)
        _log.info(
            "admin",
            operation=f"{method} {operation.path}",
            status=answer.status,
            action_id=request_id,
        )
        return answer

    async def _answered(
        self,
        request: web.BaseRequest,
        operation: Operation,
        names: Mapping[str, str],
        request_id: str,
    ) -> web.Response:
        try:
            body = await _body(request) if request.method in _WITH_BODY else {}
            self._refuse_plaintext(request, operation, body)
            order = Order(names, dict(request.query), body, _actor(request), _key(request))
            done = await self._office.carry_out(operation, order)
        except (RouterError, WireError) as error:
            return _told(error_of(error, request_id))
        if done is None:
            return web.Response(status=operation.status)
        return document(done, operation.status)

    def _denied(self, request: web.BaseRequest, request_id: str) -> web.Response | None:
        wanted = self._token.get_secret_value()
        if not wanted:
            message = "the admin API is closed: set [gateway] admin_token"
            return _refused(request_id, ErrorKind.UNAVAILABLE, "admin_token_unset", message)
        token = bearer_token(request.headers.get("authorization", ""))
        given = token.encode("utf-8", "surrogateescape")
        if hmac.compare_digest(given, wanted.encode()):
            return None
        message = "the admin token is missing or wrong"
        return _refused(request_id, ErrorKind.AUTHENTICATION, "invalid_admin_token", message)

    def _refuse_plaintext(
        self, request: web.BaseRequest, operation: Operation, body: Document
    ) -> None:
        """Refuse key material that came over a network in clear text.

        Raises:
            InvalidRequestError: it did; names the field.
        """
        brought = sorted(operation.secrets & body.keys())
        if not brought or self._is_plaintext_secret_allowed or self._is_local(request.remote):
            return
        raise InvalidRequestError.of(
            brought[0],
            "came in clear text from another machine, so change it at its provider; then send it"
            " from this one, or set [gateway] allow_plaintext_secrets where a proxy in front ends"
            " TLS",
        )


async def _body(request: web.BaseRequest) -> Document:
    """Return the document of a request; an empty body is an empty one.

    Raises:
        RouterError: it is too large, or no JSON object.
        WireError: its encoding cannot be read.
    """
    encoding = request.headers.get("content-encoding", "")
    chunks, declared = request.content.iter_any(), request.content_length
    try:
        raw = await read_body(chunks, encoding, declared, MOST_BODY_BYTES)
    except RouterError:
        message = f"the body is larger than {MOST_BODY_BYTES} bytes: send less at once"
        raise RouterError(Reason.MESSAGE_TOO_LARGE, message) from None
    if not raw.strip():
        return {}
    try:
        found = orjson.loads(raw)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict):
        raise InvalidRequestError.of("body", "must be a JSON object")
    return found


def _actor(request: web.BaseRequest) -> str:
    """Return who orders, as the holder of the token says it."""
    said = request.headers.get(ACTOR_HEADER, "").strip()[:LONGEST_ACTOR]
    return said if said.isprintable() and said else DEFAULT_ACTOR


def _key(request: web.BaseRequest) -> str:
    key = request.headers.get(IDEMPOTENCY_HEADER, "").strip()
    if len(key) > LONGEST_KEY or not key.isprintable():
        message = f"at most {LONGEST_KEY} printable characters"
        raise InvalidRequestError.of(IDEMPOTENCY_HEADER, message)
    return key


def _wrong_method(request_id: str, method: str, offered: Collection[str]) -> web.Response:
    allowed = ", ".join(sorted(offered))
    message = f"{method[:20]} is not allowed here: use {allowed}"
    error = ClientError(
        kind=ErrorKind.INVALID_REQUEST,
        message=message,
        code="method_not_allowed",
        request_id=request_id,
        http_status=405,
    )
    answer = _told(error)
    answer.headers["allow"] = allowed
    return answer


def _refused(request_id: str, kind: ErrorKind, code: str, message: str) -> web.Response:
    return _told(ClientError(kind=kind, message=message, code=code, request_id=request_id))


def _told(error: ClientError) -> web.Response:
    """Return an error in the one shape that this API has."""
    shown = {
        "code": error.code,
        "message": error.message,
        "field": error.param,
        "request_id": error.request_id,
    }
    answer = document({"error": shown}, status_of(error, WireFamily.OPENAI_CHAT))
    answer.headers.update(error_headers(WireFamily.OPENAI_CHAT, error))
    return answer
