"""What all walks share, and facts of targets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import Fault
from services.dispatch.policy import body
from services.dispatch.policy.dialect import is_in_codex_plan
from services.dispatch.policy.permit import is_permitted
from services.domain.catalog import DEFAULT_CONTEXT_WINDOW_TOKENS
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, FailureClass
from services.domain.wire.codecs import UnknownFamilyError
from services.domain.wire.model import HouseRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.dispatch.model.access import Access
    from services.dispatch.model.limits import WatchLimits
    from services.dispatch.model.plan import Order, PlannedBinding
    from services.dispatch.policy.body import CodecOf
    from services.dispatch.ports import Credentials, Endpoint, Upstream
    from services.dispatch.server.circuits import Circuits
    from services.dispatch.server.memos import Memos
    from services.domain.catalog import Catalog
    from services.domain.vocab import WireFamily
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
    memos: Memos
    circuits: Circuits
    rules: HouseRules = field(default_factory=HouseRules)
    is_responses_broad: bool = True
    fast_models: frozenset[str] = frozenset()
    """Models that are asked for on the fast tier, whatever a plan says."""


def family_at(stage: Stage, planned: PlannedBinding) -> WireFamily | None:
    """Return the dialect to speak to a binding; None when its provider has no client here."""
    endpoint = stage.endpoints.get(planned.ref.provider)
    if endpoint is None:
        return None
    row = body.catalog_binding(stage.catalog, planned.ref)
    family = planned.family or (row.dialect_at(endpoint.family) if row else endpoint.family)
    try:
        stage.codec_of(family)
    except UnknownFamilyError:
        return None
    return family


def check_permitted(order: Order, planned: PlannedBinding) -> None:
    """Return when the eligibility record lets a binding serve.

    Raises:
        RouterError: ELIGIBILITY_VIOLATION.
    """
    ref = planned.ref
    if not is_permitted(order.eligibility, ref.model_id, ref.provider):
        raise RouterError(
            Reason.ELIGIBILITY_VIOLATION,
            f"{ref.model_id} at {ref.provider} is not permitted for this action",
            metadata={"model": ref.model_id, "provider": ref.provider},
        )


def fault_of_plan(stage: Stage, planned: PlannedBinding, access: Access) -> Fault | None:
    """Return why a credential is not shown for a binding; None: it may be."""
    ref, kind = planned.ref, access.grant.attribution.kind
    if kind is not CredentialKind.CODEX_OAUTH:
        return None
    if is_in_codex_plan(body.catalog_binding(stage.catalog, ref)):
        return None
    return Fault(
        FailureClass.MODEL_NOT_FOUND,
        vendor_type="not_in_codex_plan",
        message=f"no Codex plan covers {ref.model_id} at {ref.provider}: ask for another model, or"
        " set codex_plan = true on that binding in the catalog",
    )


def window_of(catalog: Catalog, planned: PlannedBinding) -> int:
    """Return the context window of a binding in tokens: the plan's, else the catalog's."""
    if planned.context_window_tokens:
        return planned.context_window_tokens
    row = body.catalog_binding(catalog, planned.ref)
    return row.context_window_tokens if row else DEFAULT_CONTEXT_WINDOW_TOKENS
