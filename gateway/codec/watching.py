"""Messages of RouterService about models, attempts and results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.json_format import MessageToDict
from pointsman.common.v1 import action_pb2, attempt_pb2, binding_pb2, usage_pb2
from pointsman.router.v1 import router_pb2

from gateway.codec.attempts import binding_ref, credential
from gateway.codec.deciding import TIERS
from gateway.codec.eligibility import versions
from gateway.codec.enums import (
    AVAILABILITIES,
    CAUSES,
    FAILURES,
    LAYERS,
    OUTCOMES,
    SOURCE_OF,
)
from gateway.eligibility.removals import removal_of
from gateway.model import Availability
from gateway.model.record import AttemptKind, AttemptOutcome, UsageSource
from services.domain.errors import InvalidRequestError
from services.domain.pricing import list_price
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gateway.model import EligibilityRecord
    from gateway.model.explained import Completed
    from gateway.model.record import LedgerRow
    from services.domain.catalog import Binding, Model

DEFAULT_PAGE = 100
LARGEST_PAGE = 1_000

_SOURCES = {source: number for number, source in SOURCE_OF.items()}
_KINDS: Mapping[str, attempt_pb2.AttemptKind] = {
    kind.value: getattr(attempt_pb2.AttemptKind, f"ATTEMPT_KIND_{kind.name}")
    for kind in AttemptKind
}
_FAILED = ("failed_no_usage", "failed_with_usage")


def page_of(request: router_pb2.ListModelsRequest) -> tuple[str, int]:
    """Return the id after which a page begins, and its size.

    Raises:
        InvalidRequestError: the size is negative.
    """
    if request.page_size < 0:
        raise InvalidRequestError.of("page_size", "must not be negative")
    return request.page_token, min(request.page_size or DEFAULT_PAGE, LARGEST_PAGE)


def models_response(
    page: Sequence[Model], next_token: str, record: EligibilityRecord, service_version: str
) -> router_pb2.ListModelsResponse:
    """Return a page of models, each with whether it can serve now."""
    return router_pb2.ListModelsResponse(
        models=[model_message(model, record) for model in page],
        next_page_token=next_token,
        versions=versions(record, service_version),
    )


def models_document(response: router_pb2.ListModelsResponse) -> dict[str, object]:
    """Return a page of models as canonical JSON, by the names of the contract."""
    return MessageToDict(
        response, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )


def model_message(model: Model, record: EligibilityRecord) -> router_pb2.Model:
    """Return one model; ``record`` says what may serve of it."""
    facts = model.facts
    removals = [removal_of(record, model.id, binding.provider) for binding in model.bindings]
    is_servable = None in removals
    removal = removals[0] if removals and not is_servable else None
    needs = {
        action_pb2.REQUIREMENT_IMAGES: facts.image_input,
        action_pb2.REQUIREMENT_DOCUMENTS: facts.document_input,
        action_pb2.REQUIREMENT_AUDIO: facts.audio_input,
        action_pb2.REQUIREMENT_STRUCTURED_OUTPUT: facts.structured_output,
    }
    return router_pb2.Model(
        model_id=model.id,
        tier=TIERS.get(model.tier),
        family=model.family,
        context_window_token_count=max(b.context_window_tokens for b in model.bindings),
        max_output_token_count=max(b.max_output_tokens or 0 for b in model.bindings),
        reasoning_levels=facts.reasoning_levels,
        capabilities=sorted(need for need, is_met in needs.items() if is_met),
        bindings=[_model_binding(binding, record) for binding in model.bindings],
        is_routable=is_servable and model.is_automatic,
        layer=LAYERS[removal] if removal is not None else None,
    )


def attempt_notice(row: LedgerRow) -> router_pb2.AttemptNotice:
    """Return what became of one attempt."""
    return router_pb2.AttemptNotice(
        action_id=row.action_id,
        attempt=attempt_record(row),
        installation_id=row.installation_id,
    )


def action_result(completed: Completed) -> router_pb2.ActionResult:
    """Return what an action came to."""
    row, served = completed.serving_row, completed.served
    return router_pb2.ActionResult(
        action_id=completed.action_id,
        served=binding_ref(served) if served is not None else None,
        http_status=completed.http_status,
        attempt=attempt_record(row) if row is not None else None,
        charged_micro_usd=completed.charged_micros,
        saved_micro_usd=completed.saved_micros,
        attempt_count=completed.attempt_count,
        installation_id=completed.installation_id,
        failure_class=FAILURES.get(completed.failure),
    )


def attempt_record(row: LedgerRow) -> attempt_pb2.AttemptRecord:
    """Return the record of an attempt from its row in the ledger."""
    failed = AttemptOutcome.FAILED.value
    outcome = AttemptOutcome(failed if row.outcome in _FAILED else row.outcome)
    failure = row.failure if row.failure in set(FailureClass) else ""
    return attempt_pb2.AttemptRecord(
        attempt_number=row.attempt,
        kind=_KINDS[row.kind],
        binding=binding_pb2.BindingRef(model_id=row.model, provider=row.provider),
        cause=CAUSES.get(row.cause),
        credential=credential(row.attribution),
        outcome=OUTCOMES[outcome],
        http_status=row.http_status,
        usage=_usage(row) if row.source else None,
        is_fast_tier=row.is_fast_tier,
        failure_class=FAILURES.get(failure),
    )


def _usage(row: LedgerRow) -> usage_pb2.Usage:
    return usage_pb2.Usage(
        fresh_input_token_count=row.fresh_input_tokens,
        cache_read_token_count=row.cache_read_tokens,
        cache_write_token_count=row.cache_write_tokens,
        cache_write_one_hour_token_count=row.cache_write_1h_tokens,
        output_token_count=row.output_tokens,
        reasoning_token_count=row.reasoning_tokens,
        source=_SOURCES[UsageSource(row.source)],
    )


def _model_binding(binding: Binding, record: EligibilityRecord) -> router_pb2.ModelBinding:
    states = {state.provider: state.availability for state in record.enabled_providers}
    availability = states.get(binding.provider, Availability.DISABLED)
    return router_pb2.ModelBinding(
        binding=binding_ref(binding),
        price=list_price(binding.price),
        context_window_token_count=binding.context_window_tokens,
        availability=AVAILABILITIES[availability],
    )
