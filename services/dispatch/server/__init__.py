"""Serves DispatchService: decode, run, encode."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from pointsman.dispatch.v1 import dispatch_pb2 as pb
from pointsman.dispatch.v1 import dispatch_pb2_grpc as rpc

from services.dispatch.codec import parts, requests
from services.dispatch.server import auxiliary
from services.dispatch.server.batches import Batches
from services.dispatch.server.walk import Walk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import grpc

    from services.dispatch.model.plan import Budget
    from services.dispatch.ports import Endpoint
    from services.dispatch.server.target import Stage
    from services.domain.catalog import Catalog


class Dispatch(rpc.DispatchServiceServicer):
    """Serves DispatchService; ``jitter`` returns a number in [-1, 1]."""

    def __init__(self, stage: Stage, budget: Budget, *, jitter: Callable[[], float]) -> None:
        self._stage = stage
        self._budget = budget
        self._jitter = jitter

    @property
    def catalog_version(self) -> str:
        """The version of the catalog of the next walk."""
        return self._stage.catalog.version

    def adopt(self, catalog: Catalog, endpoints: Mapping[str, Endpoint]) -> Callable[[], None]:
        """Return what makes later walks use these; those that run keep theirs."""
        stage = replace(self._stage, catalog=catalog, endpoints=endpoints)

        def take_over() -> None:
            self._stage = stage

        return take_over

    async def Dispatch(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.DispatchRequest,
        context: grpc.aio.ServicerContext[pb.DispatchRequest, pb.DispatchResponse],
    ) -> AsyncIterator[pb.DispatchResponse]:
        """Walk the plan and stream one answer."""
        order = requests.order_of(request, self._budget)
        walk = Walk(self._stage, order, jitter=self._jitter, time_left_s=context.time_remaining)
        batches = Batches() if request.is_more_read else None
        async with contextlib.aclosing(walk.parts()) as answer:
            async for part in answer:
                ready = batches.add(part) if batches is not None else (part,)
                if ready:
                    yield parts.message_of(*ready)
            rest = batches.rest() if batches is not None else ()
            if rest:
                yield parts.message_of(*rest)

    async def CountTokens(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.CountTokensRequest,
        context: grpc.aio.ServicerContext[pb.CountTokensRequest, pb.CountTokensResponse],
    ) -> pb.CountTokensResponse:
        """Count tokens upstream, else estimate them."""
        count = await auxiliary.count_tokens(self._stage, requests.count_order_of(request))
        return parts.count_message(count.tokens, count.binding)

    async def ListUpstreamModels(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.ListUpstreamModelsRequest,
        context: grpc.aio.ServicerContext[
            pb.ListUpstreamModelsRequest, pb.ListUpstreamModelsResponse
        ],
    ) -> pb.ListUpstreamModelsResponse:
        """List what a provider says it serves."""
        models, after = await auxiliary.list_models(self._stage, requests.list_order_of(request))
        return parts.models_message(models, after)
