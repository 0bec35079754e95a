"""What the routed surfaces have in common: read, serve, answer in the caller's dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from gateway.answering.stream import HttpReply
from gateway.errors import error_of
from gateway.ids import new_action_id
from gateway.model import ClientGoneError
from gateway.routes.envelope import refusal
from services.domain.errors import Reason, RouterError
from services.domain.wire.model import WireError
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.action import Actions
    from gateway.requests import Intake
    from gateway.settings import GatewaySettings
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Address, ClientError

_log = get_logger("gateway")


class Surface:
    """Serves actions of one dialect."""

    def __init__(
        self, family: WireFamily, intake: Intake, actions: Actions, settings: GatewaySettings
    ) -> None:
        self._family = family
        self._intake = intake
        self._actions = actions
        self._settings = settings

    async def post(self, request: web.BaseRequest) -> web.StreamResponse:
        """Serve one request whose body says everything."""
        return await self.serve(request)

    async def serve(
        self,
        request: web.BaseRequest,
        address: Address | None = None,
        reply_of: Callable[..., HttpReply] = HttpReply,
    ) -> web.StreamResponse:
        """Serve one request; ``address`` is what its path says, ``reply_of`` makes its answer."""
        action_id = new_action_id()
        try:
            arrival = await self._intake.arrival(request, self._family, action_id, address)
            action = self._intake.decoded(arrival)
        except (RouterError, WireError) as error:
            return self._refused(error_of(error, action_id))
        if self._is_busy():
            busy = RouterError(Reason.SERVER_BUSY, "the router is busy: try again")
            return self._refused(error_of(busy, action_id))
        reply = reply_of(
            request,
            keepalive_interval_s=self._settings.sse_keepalive_interval_seconds,
            write_timeout_s=self._settings.client_write_timeout_seconds,
        )
        try:
            await self._actions.serve(action, reply)
        except ClientGoneError:
            pass
        finally:
            await reply.stop_timer()
        return reply.response or web.Response(status=499)

    def _refused(self, error: ClientError) -> web.Response:
        """Return an error from before the action began, with a log line of its own."""
        response = refusal(self._family, error)
        _log.info(
            "request_refused",
            action_id=error.request_id,
            surface=self._family.value,
            status=response.status,
            reason=error.code,
        )
        return response

    def _is_busy(self) -> bool:
        most = self._settings.max_in_flight
        return most > 0 and self._actions.running_count >= most
