"""Calls that serve nobody: counting tokens and listing a provider's models.

Neither is billed, and neither makes a mark: nothing is reported but the end of the grant.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.model.access import CredentialDenied, SecretQuery
from services.dispatch.model.enums import EndKind, SecretPurpose
from services.dispatch.model.outcome import AttemptFault
from services.dispatch.model.plan import BindingRef
from services.dispatch.policy import address, body, counting, headers, upstream_models
from services.dispatch.policy.permit import is_permitted
from services.dispatch.ports import UpstreamRequest
from services.dispatch.server.reporting import AttemptReporter
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialOwner, FailureClass, WireFamily
from services.domain.wire.features import features_of
from services.domain.wire.model import UnbuildableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from services.dispatch.model.access import Grant
    from services.dispatch.model.plan import CountOrder, ListOrder, PlannedBinding
    from services.dispatch.policy.upstream_models import UpstreamModel
    from services.dispatch.ports import Endpoint
    from services.dispatch.server.target import Stage

COUNT_S = 5.0
LIST_S = 8.0
MAX_ANSWER_BYTES = 4 * 1024 * 1024
_LISTING_FAMILIES = frozenset({WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT})


@dataclass(frozen=True, slots=True)
class Count:
    """Tokens of a request; ``binding`` of None: an estimate of ours."""

    tokens: int
    binding: BindingRef | None = None


async def count_tokens(stage: Stage, order: CountOrder) -> Count:
    """Return what the provider counts, else an estimate; an upstream's failure is no error.

    Raises:
        InvalidRequestError: the body is not readable in its dialect.
        RouterError: ELIGIBILITY_VIOLATION.
    """
    with _held(stage, order.grant, order.action.action_id):
        return await _count(stage, order)


async def _count(stage: Stage, order: CountOrder) -> Count:
    client_body = body.ClientBody(order.family, order.body, stage.codec_of, order.address)
    planned = order.binding
    if planned is not None:
        with contextlib.suppress(AttemptFault, CredentialDenied, UnbuildableError, TimeoutError):
            async with asyncio.timeout(COUNT_S):
                tokens = await _counted(stage, order, planned, client_body)
                if tokens is not None:
                    return Count(tokens, planned.ref)
    features = features_of(client_body.request, len(order.body))
    return Count(features.overflow_tokens)


async def _counted(
    stage: Stage, order: CountOrder, planned: PlannedBinding, client_body: body.ClientBody
) -> int | None:
    """Return the provider's own count; None where it has no such call or the caller pays."""
    ref = planned.ref
    if order.eligibility is None or not is_permitted(order.eligibility, ref.model_id, ref.provider):
        raise RouterError(
            Reason.ELIGIBILITY_VIOLATION, f"{ref.model_id} at {ref.provider} is not permitted"
        )
    endpoint = stage.endpoints.get(ref.provider)
    family = planned.family or (endpoint.family if endpoint is not None else None)
    if endpoint is None or family not in counting.COUNTING:
        return None
    grant = order.grant
    if grant is not None and grant.attribution.owner is CredentialOwner.CALLER:
        grant = None
    access = await stage.credentials.acquire(
        SecretQuery(
            action=order.action,
            binding=ref,
            purpose=SecretPurpose.COUNT_TOKENS,
            idempotency_key=f"{order.action.action_id}/n1",
            eligibility=order.eligibility,
            grant=grant,
            timeout_s=COUNT_S,
        )
    )
    is_given = grant is not None and access.grant.grant_id == grant.grant_id
    with _held(stage, None if is_given else access.grant, order.action.action_id):
        target = body.target_of(
            stage.catalog,
            ref,
            family,
            granted_upstream_id=access.grant.binding.upstream_id,
            is_vendor=endpoint.is_vendor,
        )
        request = UpstreamRequest(
            provider=endpoint.name,
            url=address.count_url(access.base_url or endpoint.base_url, family, target.upstream_id),
            headers=headers.for_upstream(
                family,
                access.auth,
                order.relayed_headers,
                is_same_family=order.family is family,
                is_stream=False,
            ),
            body=counting.question(family, client_body.build(target).body, target.upstream_id),
            header_timeout_s=COUNT_S,
            proxy_url=access.proxy_url,
            is_address_checked=access.is_tenant_given,
        )
        status, answer = await _whole(stage, request)
        return counting.tokens_of(answer) if status == 200 else None


async def list_models(stage: Stage, order: ListOrder) -> tuple[tuple[UpstreamModel, ...], str]:
    """Return one page of what a provider says it serves, and where the next one begins.

    Raises:
        RouterError: the provider is not configured, has no such call, no credential can be had,
            or it failed.
    """
    endpoint = stage.endpoints.get(order.provider)
    if endpoint is None:
        raise RouterError(
            Reason.PROVIDER_NOT_CONFIGURED,
            f"no provider {order.provider!r} is configured",
            metadata={"provider": order.provider},
        )
    if endpoint.family not in _LISTING_FAMILIES:
        raise RouterError(
            Reason.METHOD_NOT_IMPLEMENTED, f"{order.provider} lists no models in its dialect"
        )
    try:
        async with asyncio.timeout(LIST_S):
            answer = await _listed(stage, order, endpoint)
    except CredentialDenied as denied:
        raise _refusal(denied) from None
    except (AttemptFault, TimeoutError):
        raise _unavailable(order.provider) from None
    models = upstream_models.models_of(answer, order.provider, stage.catalog)
    if models is None:
        raise _unavailable(order.provider)
    return upstream_models.page_of(models, order.after, order.page_size)


async def _listed(stage: Stage, order: ListOrder, endpoint: Endpoint) -> bytes:
    access = await stage.credentials.acquire(
        SecretQuery(
            action=order.action,
            binding=BindingRef("", order.provider),
            purpose=SecretPurpose.LIST_MODELS,
            idempotency_key=f"list-models/{order.provider}",
        )
    )
    url = address.models_url(access.base_url or endpoint.base_url, endpoint.family)
    if endpoint.family is WireFamily.ANTHROPIC:
        url += "?limit=1000"
    sent = headers.for_upstream(
        endpoint.family, access.auth, (), is_same_family=False, is_stream=False
    )
    request = UpstreamRequest(
        endpoint.name,
        url,
        sent,
        header_timeout_s=LIST_S,
        proxy_url=access.proxy_url,
        is_address_checked=access.is_tenant_given,
    )
    with _held(stage, access.grant, "list-models"):
        status, answer = await _whole(stage, request)
    if status != 200:
        raise _unavailable(order.provider)
    return answer


@contextlib.contextmanager
def _held(stage: Stage, grant: Grant | None, action_id: str) -> Iterator[None]:
    """Let go of a grant in the end, whatever comes in between; None: others do."""
    try:
        yield
    finally:
        if grant is not None:
            reporter = AttemptReporter(stage.credentials, stage.clock, grant, action_id, 1)
            reporter.ended(EndKind.NOT_SENT)


async def _whole(stage: Stage, request: UpstreamRequest) -> tuple[int, bytes]:
    """Return the status and the body, cut at 4 MiB."""
    kept = bytearray()
    answer = await stage.upstream.open(request)
    async with contextlib.aclosing(answer):
        while len(kept) <= MAX_ANSWER_BYTES and (data := await answer.read()) is not None:
            kept += data
    return answer.http_status, bytes(kept)


def _unavailable(provider: str) -> RouterError:
    return RouterError(
        Reason.UPSTREAM_UNAVAILABLE,
        f"{provider} did not list its models",
        metadata={"provider": provider},
    )


def _refusal(denied: CredentialDenied) -> RouterError:
    is_none = denied.failure_class is FailureClass.NO_ELIGIBLE_PROVIDER
    reason = Reason.NO_ELIGIBLE_PROVIDER if is_none else Reason.CREDENTIALS_UNAVAILABLE
    return RouterError(reason, str(denied), retry_after_s=denied.retry_after_s)
