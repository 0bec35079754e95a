"""Serves RouterService: who calls, what is asked, and the answers. Decides nothing itself."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import grpc
from pointsman.router.v1 import router_pb2 as pb
from pointsman.router.v1 import router_pb2_grpc as rpc

from gateway.codec import router as codec
from gateway.codec import walking, watching
from gateway.feed import Interest
from gateway.ids import new_action_id
from gateway.model import Scope
from gateway.model.explained import Began, Completed, Explained, Lost, Shadowed
from gateway.requests import Arrival
from gateway.rpc.callers import token_of
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.domain.wire.codecs import UnknownFamilyError
from services.domain.wire.model import WireError
from services.runtime.host import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from gateway.explaining.explanations import Explanations
    from gateway.feed import Feed, Missed
    from gateway.model import Action
    from gateway.requests import Intake
    from gateway.rpc.callers import Callers

Q = TypeVar("Q")
A = TypeVar("A")

SIGN_OF_LIFE_S = 15.0
SESSION_KEY_BYTES = 16


@dataclass(frozen=True, slots=True)
class Parts:
    """What the servicer passes questions on to."""

    intake: Intake
    callers: Callers
    explanations: Callable[[], Explanations]
    """Returns what explains now."""
    feed: Feed
    sign_of_life_s: float = SIGN_OF_LIFE_S
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """Calls wait for it: a key that is looked up before it is stored would be refused for a while.
    """


class RouterServicer(rpc.RouterServiceServicer):
    """Serves RouterService. Holds no state between calls."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def Route(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.RouteRequest,
        context: grpc.aio.ServicerContext[pb.RouteRequest, pb.RouteResponse],
    ) -> pb.RouteResponse:
        """Decide one action and explain the decision."""
        parts, wants_explanation = self._parts, request.wants_explanation
        await parts.gate.wait()
        key = await parts.intake.keys.authenticate(_token(context), Scope.ROUTING)
        if len(request.body) > parts.intake.max_body_bytes:
            limit = parts.intake.max_body_bytes
            raise RouterError(Reason.MESSAGE_TOO_LARGE, f"the body is larger than {limit} bytes")
        arrival = Arrival(
            id=new_action_id(),
            surface=codec.surface_of(request),
            key=key,
            headers=codec.headers_of(request),
            body=request.body,
            started_monotonic_s=parts.intake.clock.monotonic_s(),
            address=codec.address_of(request),
        )
        pin = codec.pin_of(request)
        explained = await parts.explanations().explainer.explain(
            _read(parts.intake.decoded, arrival), pin, wants_credential=wants_explanation
        )
        decision = codec.route_decision(explained, VERSION, wants_explanation=wants_explanation)
        return pb.RouteResponse(decision=decision)

    async def ListModels(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.ListModelsRequest,
        context: grpc.aio.ServicerContext[pb.ListModelsRequest, pb.ListModelsResponse],
    ) -> pb.ListModelsResponse:
        """List models, each with whether it can serve the caller."""
        parts = self._parts
        await parts.gate.wait()
        key = await parts.intake.keys.authenticate(_token(context), Scope.ROUTING)
        listing = parts.explanations().listing
        after, size = watching.page_of(request)
        page = await listing.page(
            key.installation_id, after, size, is_servable_only=request.is_servable_only
        )
        return watching.models_response(page.models, page.next_token, page.record, VERSION)

    async def WatchDecisions(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.WatchDecisionsRequest,
        context: grpc.aio.ServicerContext[pb.WatchDecisionsRequest, pb.WatchDecisionsResponse],
    ) -> AsyncIterator[pb.WatchDecisionsResponse]:
        """Stream what happens to the actions of the caller's installation."""
        parts = self._parts
        await parts.gate.wait()
        if len(request.session_key) not in (0, SESSION_KEY_BYTES):
            raise InvalidRequestError.of("session_key", f"must have {SESSION_KEY_BYTES} bytes")
        interest = Interest(
            installation_id=await parts.callers.visible(_token(context), request.installation_id),
            session_key=request.session_key,
            action_id=request.action_id,
            wants_attempts=request.wants_attempts,
        )
        if parts.feed.is_full:
            raise RouterError(
                Reason.SERVER_BUSY, "too many readers follow decisions", retry_after_s=1.0
            )
        with parts.feed.reading(interest) as reader:
            # The first sign of life says that everything from now on is seen.
            yield pb.WatchDecisionsResponse()
            while True:
                try:
                    async with asyncio.timeout(parts.sign_of_life_s):
                        missed = await reader.read()
                except TimeoutError:
                    yield pb.WatchDecisionsResponse()
                    continue
                yield _told(missed, wants_explanation=request.wants_explanation)
                if request.action_id and isinstance(missed.event, Completed):
                    return


def _token(context: grpc.aio.ServicerContext[Q, A]) -> str:
    return token_of(context.invocation_metadata())


def _read(decoded: Callable[[Arrival], Action], arrival: Arrival) -> Action:
    """Return the action of a body.

    Raises:
        InvalidRequestError: it cannot be read, or nobody here speaks its dialect.
    """
    try:
        return decoded(arrival)
    except WireError as error:
        field = f"body.{error.path}" if error.path else "body"
        raise InvalidRequestError.of(field, str(error)) from None
    except UnknownFamilyError as error:
        raise InvalidRequestError.of("surface", str(error)) from None


def _told(missed: Missed, *, wants_explanation: bool) -> pb.WatchDecisionsResponse:
    answer = pb.WatchDecisionsResponse(missed_event_count=missed.missed_count)
    match missed.event:
        case Explained() as explained:
            answer.decided.CopyFrom(
                codec.route_decision(explained, VERSION, wants_explanation=wants_explanation)
            )
        case Shadowed() as shadowed:
            answer.shadowed.CopyFrom(codec.shadow_notice(shadowed))
        case Completed() as completed:
            answer.completed.CopyFrom(watching.action_result(completed))
        case Began() as began:
            answer.began.CopyFrom(walking.begin_notice(began))
        case Lost() as lost:
            answer.attempted.CopyFrom(walking.lost_notice(lost))
        case row:
            answer.attempted.CopyFrom(watching.attempt_notice(row))
    return answer
