"""Selections: what is asked, the grant, the key material, how the pick came about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.common.v1 import binding_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import fields
from services.credentials.codec.eligibility import (
    decode_identities,
    decode_record,
    decode_suppressed,
)
from services.credentials.codec.fields import member, not_negative, present, required
from services.credentials.model import (
    BindingRef,
    Grant,
    Purpose,
    Query,
    Redemption,
    Strategy,
    Verdict,
)
from services.domain.errors import InvalidRequestError
from services.domain.fields import action_id, session_key
from services.domain.keeping import kept
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pointsman.common.v1 import action_pb2

    from services.credentials.model import Decision, Judged, Material, Pick
    from services.domain.fields import Fields

MAX_BINDINGS = 16
MAX_TRIED = 1_000
MAX_VERDICTS = 1_000
MOST_BINDINGS = 256
"""Decoded bindings that are kept: an action asks for those that others asked for."""
_NANOS = 1_000_000_000
_BUCKET_OF = fields.inverse(fields.BUCKETS)
_PURPOSE_OF = fields.inverse(fields.PURPOSES)


def decode_select(request: pb.SelectCredentialRequest) -> Query:
    """Return the question of a SelectCredential call.

    Raises:
        InvalidRequestError: a field is missing or out of range.
    """
    present(request, "action")
    present(request, "eligibility")
    action = request.action
    if not 1 <= len(request.bindings) <= MAX_BINDINGS:
        raise InvalidRequestError.of("bindings", f"must be 1 to {MAX_BINDINGS}")
    installation_id = required(action.installation_id, "action.installation_id")
    return Query(
        action_id=action_id(action.action_id, "action.action_id"),
        installation_id=installation_id,
        idempotency_key=required(request.idempotency_key, "idempotency_key", 128),
        bindings=tuple(
            _decode_asked(one.SerializeToString(), index)
            for index, one in enumerate(request.bindings)
        ),
        session_key=session_key(action.session_key, "action.session_key"),
        eligibility=decode_record(request.eligibility, installation_id),
        presented=decode_identities(request.presented),
        suppressed=decode_suppressed(
            request.eligibility.suppressed_plans, "eligibility.suppressed_plans"
        ),
        required_credential_id=request.required_credential_id,
        max_wait_s=(
            max(0.0, fields.seconds_of(request.max_wait)) if request.HasField("max_wait") else 0.0
        ),
    )


def decode_acquire(request: pb.AcquireSecretRequest) -> Query | Redemption:
    """Return the selection that an AcquireSecret call asks for, or the grant that it redeems.

    Raises:
        InvalidRequestError: a field is missing or out of range.
    """
    present(request, "action")
    match request.WhichOneof("source"):
        case "grant_id":
            return _decode_redemption(request)
        case "selection":
            return _decode_selection(request.action, request.selection)
        case _:
            raise InvalidRequestError.of("source", "set grant_id or selection")


def _decode_redemption(request: pb.AcquireSecretRequest) -> Redemption:
    action = request.action
    return Redemption(
        grant_id=required(request.grant_id, "grant_id"),
        action_id=action_id(action.action_id, "action.action_id"),
        installation_id=required(action.installation_id, "action.installation_id"),
        rejected_version=not_negative(request.rejected_version, "rejected_version"),
        grant=_decode_grant(request.grant) if request.HasField("grant") else None,
    )


def _decode_grant(message: grant_pb2.CredentialGrant) -> Grant:
    """Return a grant as it was given; whether it was is for its id to show."""
    shown = message.attribution
    return Grant(
        id=message.grant_id,
        action_id="",
        installation_id="",
        binding=_decode_binding(message.binding, "grant.binding", is_model_needed=False),
        kind=member(fields.KIND_OF, shown.kind, "grant.attribution.kind"),
        owner=member(fields.OWNER_OF, shown.owner, "grant.attribution.owner"),
        bucket=member(_BUCKET_OF, shown.bucket, "grant.attribution.bucket"),
        credential_id=message.credential_id,
        presented_hash=message.presented_hash,
        why=message.why,
        expire_unix_s=fields.unix_s(message.expire_time),
    )


def _decode_selection(action: action_pb2.ActionContext, asked: pb.SecretSelection) -> Query:
    purpose = member(_PURPOSE_OF, asked.purpose, "selection.purpose")
    present(asked, "binding", "selection.binding")
    is_listing = purpose is Purpose.LIST_MODELS
    needs_record = purpose in (Purpose.SERVE, Purpose.AUXILIARY)
    if needs_record:
        present(asked, "eligibility", "selection.eligibility")
    installation_id = action.installation_id
    if not is_listing:
        required(installation_id, "action.installation_id")
        action_id(action.action_id, "action.action_id")
    if len(asked.tried) > MAX_TRIED:
        raise InvalidRequestError.of("selection.tried", f"must be at most {MAX_TRIED}")
    record = asked.eligibility if asked.HasField("eligibility") else None
    plans = [*asked.suppressed_plans, *(record.suppressed_plans if record is not None else ())]
    return Query(
        action_id=action.action_id,
        installation_id=installation_id,
        idempotency_key=required(asked.idempotency_key, "selection.idempotency_key", 128),
        bindings=(
            _decode_binding(asked.binding, "selection.binding", is_model_needed=not is_listing),
        ),
        session_key=session_key(action.session_key, "action.session_key"),
        purpose=purpose,
        eligibility=None if record is None else decode_record(record, installation_id),
        tried=frozenset(asked.tried),
        suppressed=decode_suppressed(plans, "selection.suppressed_plans"),
        required_credential_id=asked.required_credential_id,
    )


def encode_grant(grant: Grant) -> Fields:
    """Return the fields of a grant's message; what needs no secret shows no credential."""
    is_shown = grant.kind is not CredentialKind.NONE
    binding = grant.binding
    return {
        "grant_id": grant.id,
        "credential_id": grant.credential_id if is_shown else "",
        "credential_version": grant.credential_version if is_shown else 0,
        "binding": {
            "model_id": binding.model_id,
            "provider": binding.provider,
            "upstream_id": binding.upstream_id,
            "binding_index": binding.binding_index,
        },
        "attribution": {
            "fingerprint": grant.fingerprint if is_shown else "",
            "kind": fields.KINDS[grant.kind],
            "owner": fields.OWNERS[grant.owner],
            "bucket": fields.BUCKETS[grant.bucket],
            "is_subscription_served": grant.is_subscription_served,
        },
        "secret_cache_key": grant.cache_key if is_shown else "",
        "presented_hash": grant.presented_hash,
        "expire_time": fields.timestamp(grant.expire_unix_s),
        "why": grant.why,
    }


def encode_auth(material: Material) -> pb.AuthMaterial:
    """Return how to authenticate."""
    secrets = material.secrets
    return pb.AuthMaterial(
        scheme=fields.SCHEMES[material.scheme],
        value_secret=secrets.value,
        account_id=secrets.account_id,
        project_id=secrets.project_id,
        headers=[pb.AuthHeader(name=name, value_secret=value) for name, value in secrets.headers],
    )


def encode_endpoint(material: Material) -> pb.CredentialEndpoint | None:
    """Return where a credential is used; None: at the provider's configured endpoint."""
    spec, proxy = material.spec, material.secrets.proxy_url
    if not (spec.base_url or proxy or spec.identity_header_name or spec.is_quota_header_trusted):
        return None
    form = spec.identity_format
    return pb.CredentialEndpoint(
        base_url=spec.base_url,
        proxy_url_secret=proxy,
        identity_header_name=spec.identity_header_name,
        identity_format=None if form is None else fields.IDENTITY_FORMATS[form],
        is_quota_header_trusted=spec.is_quota_header_trusted,
        is_tenant_given=material.is_tenant_given,
    )


def encode_record(
    decision: Decision | None, elapsed_s: float, judged: Sequence[Judged] = ()
) -> Fields:
    """Return the fields of how a pick came about; nothing was chosen for a presented credential."""
    seconds, nanos = divmod(round(elapsed_s * _NANOS), _NANOS)
    elapsed = {"seconds": seconds, "nanos": nanos}
    if decision is None:
        return {
            "bucket": grant_pb2.CREDENTIAL_BUCKET_CLEAN,
            "strategy": fields.STRATEGIES[Strategy.SOLE],
            "candidate_count": 1,
            "eligible_count": 1,
            "elapsed": elapsed,
        }
    pick = decision.pick
    return {
        "state_version": decision.revision,
        "candidate_count": decision.candidate_count,
        "eligible_count": decision.eligible_count,
        "elapsed": elapsed,
        "verdicts": _encode_verdicts(judged) if judged else None,
        **(_pick(pick) if pick is not None else {}),
    }


def _pick(pick: Pick) -> Fields:
    return {
        "fingerprint": pick.credential.fingerprint,
        "bucket": fields.BUCKETS[pick.bucket],
        "priority": pick.priority,
        "strategy": fields.STRATEGIES[pick.strategy],
        "is_affinity_hit": pick.is_affinity_hit,
    }


def _encode_verdicts(judged: Sequence[Judged]) -> list[pb.CandidateVerdict]:
    first = sorted(judged, key=lambda one: one.verdict is not Verdict.PICKED)[:MAX_VERDICTS]
    return [
        pb.CandidateVerdict(
            fingerprint=one.credential.fingerprint,
            verdict=fields.VERDICTS[one.verdict],
            window=one.window,
            expire_time=fields.optional_timestamp(one.until_unix_s),
        )
        for one in first
    ]


@kept(MOST_BINDINGS)
def _decode_asked(sealed: bytes, index: int) -> BindingRef:
    binding = binding_pb2.BindingRef.FromString(sealed)
    return _decode_binding(binding, f"bindings[{index}]", is_model_needed=True)


def _decode_binding(
    binding: binding_pb2.BindingRef, field: str, *, is_model_needed: bool
) -> BindingRef:
    if is_model_needed:
        required(binding.model_id, f"{field}.model_id", 256)
    return BindingRef(
        model_id=binding.model_id,
        provider=required(binding.provider, f"{field}.provider", 128),
        upstream_id=binding.upstream_id,
        binding_index=binding.binding_index,
    )
