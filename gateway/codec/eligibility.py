"""The frozen eligibility record to the message that every service reads."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from google.protobuf import timestamp_pb2
from pointsman.common.v1 import eligibility_pb2, grant_pb2

from gateway.codec.enums import AVAILABILITIES, CREDENTIAL_KINDS, LAYERS, OWNERS
from gateway.model import Layer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.model import EligibilityRecord, ModelExclusion, ProviderState
    from services.domain.fields import Fields

MOST_RECORDS = 256
_records: OrderedDict[str, bytes] = OrderedDict()
"""Encoded records by id: an id is the digest of all fields but the time."""


def eligibility_record(record: EligibilityRecord) -> eligibility_pb2.EligibilityRecord:
    """Return the frozen record as every service reads it."""
    message = eligibility_pb2.EligibilityRecord()
    write_record(message, record)
    return message


def write_record(message: eligibility_pb2.EligibilityRecord, record: EligibilityRecord) -> None:
    """Make ``message``, perhaps a part of a larger one, that record: it need not be copied then."""
    kept = _records.get(record.record_id)
    if kept is None:
        kept = _records[record.record_id] = _timeless_record(record).SerializeToString()
        if len(_records) > MOST_RECORDS:
            _records.popitem(last=False)
    message.ParseFromString(kept)
    _write_time(message.create_time, record.create_unix_s)


def versions(record: EligibilityRecord, service_version: str) -> Fields:
    """Return what a decision under a record rests on, by version."""
    return {
        "service_version": service_version,
        "catalog_version": record.catalog_version,
        "config_version": record.config_version,
        "eligibility_id": record.record_id,
    }


def _timeless_record(record: EligibilityRecord) -> eligibility_pb2.EligibilityRecord:
    message = eligibility_pb2.EligibilityRecord(
        record_id=record.record_id,
        installation_id=record.installation_id,
        catalog_version=record.catalog_version,
        config_version=record.config_version,
        credentials_version=record.credentials_version,
        enabled_providers=eligibility_pb2.ProviderEligibilitySet(
            providers=[_provider_state(state) for state in record.enabled_providers]
        ),
        excluded_providers=[
            eligibility_pb2.ProviderExclusion(provider=item.provider, layer=LAYERS[item.layer])
            for item in record.excluded_providers
        ],
        is_gateway_exclusive=record.is_gateway_exclusive,
        gateway_aliases=[
            eligibility_pb2.GatewayAliases(
                provider=entry.provider,
                credential_fingerprint=entry.fingerprint,
                upstream_id_by_model=entry.upstream_id_by_model,
            )
            for entry in record.gateway_aliases
        ],
        excluded_models=_models(record.excluded_models),
        automatic_excluded_models=_models(record.automatic_excluded_models),
        safety_excluded_models=_models(record.safety_excluded_models),
        requirement_excluded_models=_models(record.requirement_excluded_models),
        excluded_bindings=[
            eligibility_pb2.BindingExclusion(
                model_id=item.model_id, provider=item.provider, layer=LAYERS[item.layer]
            )
            for item in record.excluded_bindings
        ],
        presented_hashes=record.presented_hashes,
        suppressed_plans=[
            grant_pb2.SuppressedPlan(kind=CREDENTIAL_KINDS[kind], owner=OWNERS["caller"])
            for kind in record.suppressed_plans
        ],
    )
    if record.forced_model:
        message.forced.model_id = record.forced_model
        message.forced.source = eligibility_pb2.FORCE_SOURCE_HEADER
    if record.override_reason:
        message.operator_override.reason = record.override_reason
        message.operator_override.is_model_list_replaced = any(
            item.layer is Layer.OPERATOR for item in record.excluded_models
        )
        message.operator_override.is_provider_list_replaced = bool(record.excluded_providers)
    return message


def _models(
    exclusions: Iterable[ModelExclusion],
) -> list[eligibility_pb2.ModelExclusion]:
    return [
        eligibility_pb2.ModelExclusion(model_id=item.model_id, layer=LAYERS[item.layer])
        for item in exclusions
    ]


def _provider_state(state: ProviderState) -> eligibility_pb2.ProviderEligibility:
    return eligibility_pb2.ProviderEligibility(
        provider=state.provider,
        availability=AVAILABILITIES[state.availability],
        owners=sorted(OWNERS[owner] for owner in state.owners),
        kinds=sorted(CREDENTIAL_KINDS[kind] for kind in state.kinds),
        recover_time=timestamp(state.recover_unix_s) if state.recover_unix_s is not None else None,
        headroom_ratio=state.headroom_ratio,
        family_headrooms=[
            eligibility_pb2.FamilyHeadroom(family=family, headroom_ratio=ratio)
            for family, ratio in state.family_headrooms
        ],
    )


def timestamp(unix_s: float) -> timestamp_pb2.Timestamp:
    """Return an instant."""
    message = timestamp_pb2.Timestamp()
    _write_time(message, unix_s)
    return message


def _write_time(message: timestamp_pb2.Timestamp, unix_s: float) -> None:
    seconds = int(unix_s // 1)
    message.seconds, message.nanos = seconds, int((unix_s - seconds) * 1e9)
