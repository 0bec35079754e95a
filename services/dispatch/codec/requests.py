"""Requests of DispatchService as values."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from pointsman.common.v1 import action_pb2

from services.dispatch.codec import common
from services.dispatch.codec import enums as tables
from services.dispatch.codec.plans import plan_of, planned_binding
from services.dispatch.model.plan import ActionRef, CountOrder, ListOrder, Order, Sealed
from services.domain.errors import InvalidRequestError
from services.domain.fields import count, text
from services.domain.vocab import WireFamily
from services.domain.wire.model import Address

if TYPE_CHECKING:
    from pointsman.common.v1 import conversation_pb2
    from pointsman.dispatch.v1 import dispatch_pb2

    from services.dispatch.model.plan import Budget

MAX_PAGE_SIZE = 1000
DEFAULT_PAGE_SIZE = 100


def order_of(message: dispatch_pb2.DispatchRequest, defaults: Budget) -> Order:
    """Return what is asked; ``defaults`` holds where the plan sets no limit.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    action, features = common.action(message.action, "action"), message.features
    if not message.HasField("features"):
        raise InvalidRequestError.of("features", "must be set")
    return Order(
        action=action,
        family=_family(message.body.wire_family, "body.wire_family"),
        body=_body(message.body.body),
        eligibility=common.eligibility(message.eligibility, action.installation_id, "eligibility"),
        plan=plan_of(message.plan, defaults),
        kind=tables.required(tables.KIND, message.kind, "kind"),
        estimated_input_tokens=count(features.input_token_count, "features.input_token_count"),
        max_output_tokens=count(features.max_output_token_count, "features.max_output_token_count"),
        relayed_headers=common.relayed_headers(message.relayed_headers),
        address=_address(message.body),
    )


def count_order_of(message: dispatch_pb2.CountTokensRequest) -> CountOrder:
    """Return what is to be counted.

    Raises:
        InvalidRequestError: a field is missing or out of range; names its path.
    """
    action = common.action(message.action, "action")
    has_binding = message.HasField("binding")
    if has_binding and not message.HasField("eligibility"):
        raise InvalidRequestError.of("eligibility", "must be set together with binding")
    return CountOrder(
        action=action,
        family=_family(message.body.wire_family, "body.wire_family"),
        body=_body(message.body.body),
        binding=planned_binding(message.binding, "binding") if has_binding else None,
        eligibility=(
            common.eligibility(message.eligibility, action.installation_id, "eligibility")
            if has_binding
            else None
        ),
        grant=common.grant(message.grant, "grant") if message.HasField("grant") else None,
        relayed_headers=common.relayed_headers(message.relayed_headers),
        address=_address(message.body),
    )


def list_order_of(message: dispatch_pb2.ListUpstreamModelsRequest) -> ListOrder:
    """Return which page of which provider's list is asked for.

    Raises:
        InvalidRequestError: the provider is missing, or the page token is not one of ours.
    """
    if message.page_size < 0:
        raise InvalidRequestError.of("page_size", "must be 0 to 1000")
    tenant = message.installation_id
    sealed = Sealed(action_pb2.ActionContext(installation_id=tenant).SerializeToString())
    return ListOrder(
        action=ActionRef("", tenant, sealed=sealed),
        provider=text(message.provider, "provider"),
        page_size=min(message.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
        after=_after(message.page_token),
    )


def page_token(after: str) -> str:
    """Return the token of the page that begins after an upstream id; empty stays empty."""
    return base64.urlsafe_b64encode(after.encode()).decode()


def _after(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise InvalidRequestError.of("page_token", "must be a token of an earlier answer") from None


def _family(number: int, field: str) -> WireFamily:
    return tables.required(tables.FAMILY, number, field)


def _address(body: conversation_pb2.RequestBody) -> Address | None:
    """Return what the path said; only one dialect says anything there."""
    if tables.FAMILY.get(body.wire_family) is not WireFamily.GEMINI:
        return None
    return Address(body.path_model, body.is_stream)


def _body(body: bytes) -> bytes:
    if not body:
        raise InvalidRequestError.of("body.body", "must not be empty")
    return body
