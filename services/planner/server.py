"""The gRPC face: decode, decide, encode, one line in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.planner.v1 import planner_pb2 as pb
from pointsman.planner.v1 import planner_pb2_grpc as rpc

from services.planner.codec.record import facts_of
from services.planner.codec.requests import decode
from services.planner.codec.responses import encode
from services.planner.policy.decision import decide
from services.runtime import host, log

if TYPE_CHECKING:
    import grpc

    from services.planner.model.rules import Rules
    from services.runtime.reloading import Current

_log = log.get_logger("planner")


class PlannerServicer(rpc.PlannerServiceServicer):
    """Serves PlannerService. Holds no state between calls."""

    def __init__(self, rules: Rules, current: Current) -> None:
        self._rules = rules
        self._current = current

    async def PlanAction(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.PlanActionRequest,
        context: grpc.aio.ServicerContext[pb.PlanActionRequest, pb.PlanActionResponse],
    ) -> pb.PlanActionResponse:
        """Decide whether the session stays on its pin or switches to the fresh pick."""
        asked = decode(request)
        rules = self._rules if asked.overrides is None else self._rules.replaced(asked.overrides)
        decision = decide(asked.question, rules)
        is_ours = asked.labels.catalog_version == self._current.version
        _log.info("plan_action", is_own_catalog=is_ours, **facts_of(decision, asked.labels))
        return encode(decision, asked.labels, host.VERSION)
