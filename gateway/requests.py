"""From an HTTP request to an action: who asks, the body read once, its features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway import identity
from gateway.body import decoded_body, read_body, too_large
from gateway.commands import CommandScope, has_commands, stripped
from gateway.estimates import input_tokens_of
from gateway.knobs import knobs_of
from gateway.model import Action, Caller, Scope
from gateway.model.action import OverflowStyle
from gateway.session_key import session_keys_of
from gateway.turns import client_of, identifier, turn_type_of
from gateway.turns.marks import HARNESSES
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for, read_request
from services.domain.wire.features import features_of
from services.domain.wire.forced import forced_level
from services.domain.wire.model import WireError
from services.domain.wire.openai_responses import is_background
from services.runtime.cutoff import Within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aiohttp import web

    from gateway.model import ActionId, Presented, RouterKey
    from gateway.ports import Keys
    from gateway.turns import Client
    from services.domain.wire.model import Address
    from services.runtime.clock import Clock

BODY_TIMEOUT_S = 120.0
"""Time that a client has to send its body."""


def forced_effort(headers: Mapping[str, str]) -> str:
    """Return the level of reasoning that a header forces; empty: none.

    Raises:
        WireError: it names no level.
    """
    word = headers.get(identity.EFFORT_HEADER, "").strip()
    try:
        return forced_level(word) if word else ""
    except WireError as error:
        raise WireError(identity.EFFORT_HEADER, error.message) from None


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request whose caller is known and whose body is read, not yet decoded."""

    id: ActionId
    surface: WireFamily
    key: RouterKey
    headers: Mapping[str, str]
    body: bytes
    started_monotonic_s: float
    presented: tuple[Presented, ...] = ()
    address: Address | None = None
    """What the path said beside the body; None: the dialect says all in the body."""


@dataclass(frozen=True, slots=True)
class Intake:
    """Reads requests: authenticates first, then takes the body, then decodes it once."""

    keys: Keys
    clock: Clock
    max_body_bytes: int
    commands: CommandScope = CommandScope.HARNESS
    overflow_style: OverflowStyle = OverflowStyle.PLAIN

    async def authenticate(
        self, request: web.BaseRequest, surface: WireFamily
    ) -> tuple[RouterKey, Mapping[str, str]]:
        """Return the router key of a request, and its headers as they can be read.

        A key in the query counts in the one dialect whose clients may send it nowhere else.

        Raises:
            RouterError: the key is bad, or cannot be looked up.
        """
        query_key = request.query.get("key", "") if surface is WireFamily.GEMINI else ""
        headers = identity.legible(request.headers)
        token = identity.router_key_of(headers, query_key)
        return await self.keys.authenticate(token, Scope.ROUTING), headers

    async def arrival(
        self,
        request: web.BaseRequest,
        surface: WireFamily,
        action_id: ActionId,
        address: Address | None = None,
    ) -> Arrival:
        """Return a request once its caller is known and its body is here.

        Raises:
            RouterError: the key is bad or the body too large.
            WireError: the body cannot be decompressed.
        """
        started_s = self.clock.monotonic_s()
        key, headers = await self.authenticate(request, surface)
        body = await self.body(request)
        presented = identity.presented_of(headers, surface)
        return Arrival(action_id, surface, key, headers, body, started_s, presented, address)

    def decoded(self, arrival: Arrival) -> Action:
        """Return the action that a request which is read asks for.

        Raises:
            WireError: the body cannot be read, or a header names no level of reasoning.
            RouterError: a header for the scorer is out of range.
        """
        surface, key, headers = arrival.surface, arrival.key, arrival.headers
        decoded = read_request(codec_for(surface), arrival.body, arrival.address)
        if is_background(decoded) and not decoded.is_stream:
            raise WireError("background", "no answer is kept here to be fetched: ask for a stream")
        client = client_of(headers, surface)
        keys = session_keys_of(decoded, headers, client, key.id)
        may_command = self._may_command(client)
        body, command = arrival.body, None
        if may_command and has_commands(decoded):
            read = stripped(body, surface)
            if read.body is not body:
                decoded = read_request(codec_for(surface), read.body, arrival.address)
            body, command = read.body, read.command
        features = features_of(decoded, len(body))
        caller = Caller(
            key_id=key.id,
            installation_id=key.installation_id,
            client_app=client.app,
            is_evaluation=client.is_evaluation,
            session_key=keys.thread if keys.is_session_named else b"",
            thread_key=keys.thread,
            conversation_key=keys.conversation,
            client_request_id=identifier(headers.get("x-request-id", "")),
            presented=arrival.presented,
            forced_model=headers.get(identity.FORCE_MODEL_HEADER, "").strip(),
            forced_effort=forced_effort(headers),
            knobs=knobs_of(headers),
            relayed_headers=identity.relayed_headers(headers),
            wants_long_context=identity.wants_long_context(headers, decoded.model),
        )
        return Action(
            id=arrival.id,
            surface=surface,
            caller=caller,
            body=body,
            request=decoded,
            features=features,
            input_tokens=input_tokens_of(decoded, features),
            turn_type=turn_type_of(decoded, features, client),
            started_monotonic_s=arrival.started_monotonic_s,
            may_command=may_command,
            command=command,
            overflow_style=self.overflow_style,
        )

    def _may_command(self, client: Client) -> bool:
        if self.commands is CommandScope.HARNESS:
            return client.app in HARNESSES
        return self.commands is CommandScope.ALL

    async def body(self, request: web.BaseRequest) -> bytes:
        """Return the body of a request, read once and decompressed.

        Raises:
            RouterError: it is too large.
            WireError: it did not arrive in time, or cannot be decompressed.
        """
        encoding = request.headers.get("content-encoding", "")
        declared = request.content_length
        if declared is not None and declared > self.max_body_bytes:
            raise too_large(self.max_body_bytes)
        if request.headers.get("expect", "").lower() == "100-continue":
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            request.writer.output_size = 0
        if request.content.is_eof():
            return decoded_body(request.content.read_nowait(), encoding, self.max_body_bytes)
        chunks = request.content.iter_any()
        try:
            with Within(BODY_TIMEOUT_S):
                return await read_body(chunks, encoding, declared, self.max_body_bytes)
        except TimeoutError:
            raise WireError("", f"the body did not arrive within {BODY_TIMEOUT_S:g} s") from None
