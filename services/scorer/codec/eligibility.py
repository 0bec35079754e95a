"""Reads the eligibility record: every layer stays a value of its own."""

from __future__ import annotations

from collections.abc import Iterable

from pointsman.common.v1 import eligibility_pb2

from services.domain.fields import text
from services.domain.keeping import kept
from services.scorer.codec import enums
from services.scorer.model.question import Eligibility, GatewayAliases, Layer

PATH = "eligibility"
MOST_RECORDS = 256
"""Records that are not read again: many actions of an installation have the same."""


def eligibility(record: eligibility_pb2.EligibilityRecord) -> Eligibility:
    """Return what may serve.

    Raises:
        InvalidRequestError: a name or a layer is missing.
    """
    timeless = eligibility_pb2.EligibilityRecord()
    timeless.CopyFrom(record)
    timeless.ClearField("create_time")
    return _read(timeless.SerializeToString(deterministic=True))


@kept(MOST_RECORDS)
def _read(content: bytes) -> Eligibility:
    record = eligibility_pb2.EligibilityRecord.FromString(content)
    enabled = None
    if record.HasField("enabled_providers"):
        enabled = frozenset(entry.provider for entry in record.enabled_providers.providers)
    return Eligibility(
        content=content,
        record_id=record.record_id,
        catalog_version=record.catalog_version,
        config_version=record.config_version,
        enabled_providers=enabled,
        excluded_providers={
            text(entry.provider, f"{PATH}.excluded_providers[{index}].provider"): enums.layer(
                entry.layer, f"{PATH}.excluded_providers[{index}].layer"
            )
            for index, entry in enumerate(record.excluded_providers)
        },
        is_gateway_exclusive=record.is_gateway_exclusive,
        gateways=tuple(
            GatewayAliases(
                text(entry.provider, f"{PATH}.gateway_aliases[{index}].provider"),
                dict(entry.upstream_id_by_model),
            )
            for index, entry in enumerate(record.gateway_aliases)
        ),
        has_allow_list=record.HasField("allowed_models"),
        excluded_models=_models(record.excluded_models, "excluded_models"),
        automatic_models=_models(record.automatic_excluded_models, "automatic_excluded_models"),
        safety_models=_models(record.safety_excluded_models, "safety_excluded_models"),
        requirement_models=_models(
            record.requirement_excluded_models, "requirement_excluded_models"
        ),
        excluded_bindings=_bindings(record.excluded_bindings),
        preferred_models=tuple(record.preferred_model_ids),
        forced_model=record.forced.model_id,
        forced_cluster=record.forced.cluster_label,
    )


def _models(entries: Iterable[eligibility_pb2.ModelExclusion], name: str) -> dict[str, Layer]:
    found: dict[str, Layer] = {}
    for index, entry in enumerate(entries):
        path = f"{PATH}.{name}[{index}]"
        model_id = text(entry.model_id, f"{path}.model_id")
        found.setdefault(model_id, enums.layer(entry.layer, f"{path}.layer"))
    return found


def _bindings(
    entries: Iterable[eligibility_pb2.BindingExclusion],
) -> dict[tuple[str, str], Layer]:
    found: dict[tuple[str, str], Layer] = {}
    for index, entry in enumerate(entries):
        path = f"{PATH}.excluded_bindings[{index}]"
        pair = text(entry.model_id, f"{path}.model_id"), text(entry.provider, f"{path}.provider")
        found.setdefault(pair, enums.layer(entry.layer, f"{path}.layer"))
    return found
