"""Eligibility: the record of an action, the snapshot of an installation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import eligibility_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import fields
from services.credentials.codec.fields import member, required
from services.credentials.model import (
    Availability,
    Eligibility,
    Presented,
    PresentedIdentity,
    SuppressedPlan,
)
from services.credentials.model.credential import PLAN_KINDS
from services.domain.errors import InvalidRequestError
from services.domain.keeping import kept

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import PlanColour, PresentedState, ProviderColour, Snapshot

_SURFACE_OF = fields.inverse(fields.SURFACES)
MAX_PRESENTED = 8
MOST_RECORDS = 256
"""Decoded eligibility records that are kept."""


def decode_record(record: eligibility_pb2.EligibilityRecord, installation_id: str) -> Eligibility:
    """Return what a record permits.

    Raises:
        InvalidRequestError: it belongs to another tenant.
    """
    if record.installation_id != installation_id:
        raise InvalidRequestError.of(
            "eligibility.installation_id", "must equal the installation of the action"
        )
    return _permitted(_timeless(record))


def _timeless(record: eligibility_pb2.EligibilityRecord) -> bytes:
    """Return a record's bytes without its first two fields: its id, and when it was frozen.

    What is left is the same for all actions that ask the same.
    """
    named = eligibility_pb2.EligibilityRecord(record_id=record.record_id)
    if record.HasField("create_time"):
        named.create_time.CopyFrom(record.create_time)
    return record.SerializeToString()[named.ByteSize() :]


@kept(MOST_RECORDS)
def _permitted(sealed: bytes) -> Eligibility:
    record = eligibility_pb2.EligibilityRecord.FromString(sealed)
    models = (
        *record.excluded_models,
        *record.safety_excluded_models,
        *record.requirement_excluded_models,
    )
    enabled = None
    if record.HasField("enabled_providers"):
        enabled = frozenset(one.provider for one in record.enabled_providers.providers)
    return Eligibility(
        enabled_providers=enabled,
        excluded_providers=frozenset(one.provider for one in record.excluded_providers),
        excluded_models=frozenset(one.model_id for one in models),
        excluded_bindings=frozenset((b.model_id, b.provider) for b in record.excluded_bindings),
        is_gateway_exclusive=record.is_gateway_exclusive,
        gateway_models=frozenset(
            (model, key.provider)
            for key in record.gateway_aliases
            for model in key.upstream_id_by_model
        ),
        is_subscription_only=record.is_subscription_only,
    )


def decode_suppressed(
    plans: Sequence[grant_pb2.SuppressedPlan], field: str
) -> frozenset[SuppressedPlan]:
    """Return the plans that may not be used.

    Raises:
        InvalidRequestError: a kind is no plan, or a member is not known.
    """
    if not plans:
        return frozenset()
    found = frozenset(
        SuppressedPlan(
            member(fields.KIND_OF, plan.kind, f"{field}.kind"),
            member(fields.OWNER_OF, plan.owner, f"{field}.owner"),
        )
        for plan in plans
    )
    if any(plan.kind not in PLAN_KINDS for plan in found):
        raise InvalidRequestError.of(f"{field}.kind", "must be the kind of a plan")
    return found


def decode_presented(
    presented: Sequence[grant_pb2.PresentedCredential],
) -> tuple[Presented, ...]:
    """Return the credentials that a caller presented.

    Raises:
        InvalidRequestError: there are too many, or one lacks secret or surface.
    """
    if len(presented) > MAX_PRESENTED:
        raise InvalidRequestError.of("presented", f"must be at most {MAX_PRESENTED}")
    for index, one in enumerate(presented):
        if not one.presented_secret:
            raise InvalidRequestError.of(f"presented[{index}].presented_secret", "must be set")
    return tuple(
        Presented(
            secret=one.presented_secret,
            surface=member(_SURFACE_OF, one.surface, f"presented[{index}].surface"),
            account_id=one.account_id,
            is_plan_header=one.is_plan_header,
        )
        for index, one in enumerate(presented)
    )


def decode_identities(
    identities: Sequence[grant_pb2.PresentedIdentity],
) -> tuple[PresentedIdentity, ...]:
    """Return presented credentials by identity.

    Raises:
        InvalidRequestError: one lacks hash, kind or provider.
    """
    if not identities:
        return ()
    return tuple(
        PresentedIdentity(
            presented_hash=required(one.presented_hash, f"presented[{index}].presented_hash"),
            kind=member(fields.KIND_OF, one.kind, f"presented[{index}].kind"),
            provider=required(one.provider, f"presented[{index}].provider", 128),
        )
        for index, one in enumerate(identities)
    )


def encode_presented(state: PresentedState) -> pb.PresentedEligibility:
    """Return what a presented credential can do."""
    identity = state.identity
    availability = Availability.WARNED if state.is_warned else Availability.USABLE
    if state.is_blocked:
        availability = Availability.COOLING
    return pb.PresentedEligibility(
        identity=grant_pb2.PresentedIdentity(
            presented_hash=identity.presented_hash,
            kind=fields.KINDS[identity.kind],
            provider=identity.provider,
        ),
        plan=None if state.plan is None else _plan_state(state.plan),
        availability=fields.AVAILABILITIES[availability],
        recover_time=fields.optional_timestamp(state.blocked_until_unix_s),
    )


def encode_snapshot(snapshot: Snapshot) -> pb.EligibilitySnapshot:
    """Return the message of a snapshot."""
    return pb.EligibilitySnapshot(
        installation_id=snapshot.installation_id,
        version=snapshot.version,
        providers=[_provider(one) for one in snapshot.providers],
        plans=[_plan(one) for one in snapshot.plans],
        is_gateway_exclusive=snapshot.is_gateway_exclusive,
        gateway_aliases=[
            eligibility_pb2.GatewayAliases(
                provider=key.provider,
                credential_fingerprint=key.fingerprint,
                upstream_id_by_model=dict(key.upstream_id_by_model),
            )
            for key in snapshot.gateway_keys
        ],
        refusals=[
            pb.EndpointRefusal(
                provider=one.provider,
                credential_fingerprint=one.fingerprint,
                model_id=one.model_id,
                expire_time=fields.timestamp(one.expire_unix_s),
            )
            for one in snapshot.refusals
        ],
        has_tenant_credentials=snapshot.has_tenant_credentials,
        passed_over_fingerprints=snapshot.passed_over,
    )


def _provider(colour: ProviderColour) -> eligibility_pb2.ProviderEligibility:
    return eligibility_pb2.ProviderEligibility(
        provider=colour.provider,
        availability=fields.AVAILABILITIES[colour.availability],
        owners=sorted(fields.OWNERS[owner] for owner in colour.owners),
        kinds=sorted(fields.KINDS[kind] for kind in colour.kinds),
        recover_time=fields.optional_timestamp(colour.recover_unix_s),
        headroom_ratio=colour.headroom.ratio,
        family_headrooms=[
            eligibility_pb2.FamilyHeadroom(family=family, headroom_ratio=ratio)
            for family, ratio in colour.headroom.by_family
        ],
    )


def _plan(plan: PlanColour) -> pb.LinkedPlan:
    return pb.LinkedPlan(plan=_plan_state(plan))


def _plan_state(plan: PlanColour) -> eligibility_pb2.PlanState:
    return eligibility_pb2.PlanState(
        kind=fields.KINDS[plan.kind],
        status=fields.PLAN_STATUSES[plan.status],
        owner=fields.OWNERS[plan.owner],
        utilization_ratio=None
        if plan.utilization_ratio is None
        else min(1.0, plan.utilization_ratio),
        windows=[
            eligibility_pb2.PlanWindow(
                window=use.window,
                utilization_ratio=use.utilization_ratio,
                reset_time=fields.optional_timestamp(use.reset_unix_s),
                is_warned=use.is_warned,
                is_rejected=use.is_rejected,
            )
            for use in plan.windows
        ],
    )
