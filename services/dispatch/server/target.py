"""What one attempt goes to: built body, address, headers, in one request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy import address, body, headers
from services.dispatch.ports import UpstreamRequest
from services.domain.catalog import DEFAULT_CONTEXT_WINDOW_TOKENS
from services.domain.vocab import FailureClass
from services.domain.wire.model import UnbuildableError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.dispatch.model.access import Access
    from services.dispatch.model.limits import WatchLimits
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.policy.body import ClientBody, CodecOf
    from services.dispatch.ports import Credentials, Endpoint, Upstream
    from services.domain.catalog import Catalog
    from services.domain.vocab import WireFamily
    from services.domain.wire.model import Transform
    from services.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Stage:
    """All that walks share."""

    catalog: Catalog
    endpoints: Mapping[str, Endpoint]
    credentials: Credentials
    upstream: Upstream
    clock: Clock
    codec_of: CodecOf
    limits: Mapping[WireFamily, WatchLimits]


@dataclass(frozen=True, slots=True)
class Built:
    """A request that is ready to be sent."""

    request: UpstreamRequest
    transforms: tuple[Transform, ...]
    secret: str = field(default="", repr=False)
    """What authenticates it: never shown, even when the upstream echoes it."""


def build(
    stage: Stage,
    order: Order,
    client_body: ClientBody,
    planned: PlannedBinding,
    family: WireFamily,
    access: Access,
) -> Built:
    """Return the request of one attempt.

    Raises:
        AttemptFault: UNBUILDABLE; the target cannot express the request.
        RouterError: TARGET_MISMATCH, or the client's body is unreadable.
    """
    endpoint = stage.endpoints[planned.ref.provider]
    target = body.target_of(
        stage.catalog,
        planned.ref,
        family,
        granted_upstream_id=access.grant.binding.upstream_id,
        is_vendor=endpoint.is_vendor,
        is_model_switched=order.plan.is_model_switched,
        affinity_key=order.plan.affinity_key,
    )
    is_stream = client_body.request.is_stream
    try:
        encoded = client_body.build(target)
    except UnbuildableError as error:
        raise AttemptFault(Fault(FailureClass.UNBUILDABLE, message=str(error))) from None
    request = UpstreamRequest(
        provider=endpoint.name,
        url=address.answer_url(
            access.base_url or endpoint.base_url,
            family,
            upstream_id=target.upstream_id,
            is_stream=is_stream,
        ),
        headers=headers.for_upstream(
            family,
            access.auth,
            order.relayed_headers,
            is_same_family=family is order.family,
            is_stream=is_stream,
        ),
        body=encoded.body,
        header_timeout_s=endpoint.header_timeout_s,
        proxy_url=access.proxy_url,
    )
    return Built(request, encoded.transforms, access.auth.secret)


def window_of(catalog: Catalog, planned: PlannedBinding) -> int:
    """Return the context window of a binding in tokens: the plan's, else the catalog's."""
    if planned.context_window_tokens:
        return planned.context_window_tokens
    row = body.catalog_binding(catalog, planned.ref)
    return row.context_window_tokens if row else DEFAULT_CONTEXT_WINDOW_TOKENS
