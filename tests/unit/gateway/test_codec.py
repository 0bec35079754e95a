from __future__ import annotations

import pytest
from google.protobuf import duration_pb2
from pointsman.common.v1 import (
    action_pb2,
    attempt_pb2,
    binding_pb2,
    eligibility_pb2,
    grant_pb2,
    usage_pb2,
)
from pointsman.credentials.v1 import credentials_pb2
from pointsman.dispatch.v1 import dispatch_pb2

from gateway.codec import enums
from gateway.codec.answers import grant_of, part_of, snapshot_of
from gateway.codec.attempts import planned_binding, rescue_candidate
from gateway.codec.eligibility import eligibility_record
from gateway.eligibility import freeze
from gateway.model import Availability, BindingRef, Failed, Head, Rescue, RescueCause, Tail
from services.domain.vocab import FailureClass, WireFamily
from services.domain.wire.model import StopReason, Usage
from tests.unit.gateway.facts import catalog, policy, question, row


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (enums.WIRE_FAMILIES, action_pb2.WireFamily),
        (enums.TURN_TYPES, action_pb2.TurnType),
        (enums.LAST_KINDS, action_pb2.LastKind),
        (enums.AVAILABILITIES, eligibility_pb2.ProviderAvailability),
        (enums.CREDENTIAL_KINDS, grant_pb2.CredentialKind),
        (enums.OWNERS, grant_pb2.CredentialOwner),
    ],
)
def test_closed_sets_cover_the_contract(table: dict[object, int], kind: object) -> None:
    assert set(table.values()) | {0} == set(kind.values())  # type: ignore[attr-defined]  # enum wrapper


def test_answers_cover_the_contract() -> None:
    assert set(enums.FAILURE_OF) | {0} == set(attempt_pb2.FailureClass.values())
    assert set(enums.STOP_OF) | {0} == set(usage_pb2.StopReason.values())


def test_a_record_keeps_every_set_apart() -> None:
    models = catalog(row("a", "p1"), row("b", "p1", window=1), row("c", "p9"))
    limits = policy(excluded_models=frozenset({"a"}), override_reason="why")
    record = freeze(question("p1", forced_model="b"), limits, models)
    message = eligibility_record(record)
    assert message.record_id == record.record_id
    assert {item.model_id: item.layer for item in message.excluded_models} == {
        "a": eligibility_pb2.EXCLUSION_LAYER_OPERATOR,
        "c": eligibility_pb2.EXCLUSION_LAYER_NO_CREDENTIAL,
    }
    assert [item.model_id for item in message.safety_excluded_models] == ["b"]
    assert [item.provider for item in message.enabled_providers.providers] == ["p1"]
    assert message.forced.source == eligibility_pb2.FORCE_SOURCE_HEADER
    assert message.operator_override.reason == "why"
    assert message.create_time.seconds == 1_000


def test_a_grant_is_passed_on_as_it_came() -> None:
    grant = grant_pb2.CredentialGrant(grant_id="g1", credential_id="c1", why="clean")
    grant.attribution.fingerprint = "12345678"
    got = grant_of(credentials_pb2.SelectCredentialResponse(grant=grant, binding_index=2))
    assert (got.binding_index, got.fingerprint) == (2, "12345678")
    assert grant_pb2.CredentialGrant.FromString(got.wire) == grant


def test_parts_are_read_and_unknown_ones_skipped() -> None:
    response = dispatch_pb2.DispatchResponse
    assert part_of(response()) is None
    assert part_of(response(chunk=b"x")) == b"x"
    head = part_of(
        response(
            head=dispatch_pb2.Head(
                binding=binding_pb2.BindingRef(model_id="m", provider="p"),
                wire_family=action_pb2.WIRE_FAMILY_GEMINI,
                http_status=200,
                is_stream=True,
            )
        )
    )
    assert isinstance(head, Head)
    assert head.wire_family is WireFamily.GEMINI
    tail = part_of(response(tail=dispatch_pb2.Tail(stop_reason=usage_pb2.STOP_REASON_TOOL_USE)))
    assert isinstance(tail, Tail)
    assert (tail.stop_reason, tail.failure, tail.usage) == (StopReason.TOOL_USE, None, None)
    used = attempt_pb2.AttemptRecord(usage=usage_pb2.Usage(output_token_count=7))
    billed = part_of(response(tail=dispatch_pb2.Tail(attempt=used)))
    assert isinstance(billed, Tail)
    assert billed.usage == Usage(output=7)
    failed = part_of(
        response(
            failed=dispatch_pb2.Failed(
                failure_class=attempt_pb2.FAILURE_CLASS_STALL,
                retry_delay=duration_pb2.Duration(seconds=1, nanos=500_000_000),
            )
        )
    )
    assert isinstance(failed, Failed)
    assert (failed.failure, failed.retry_after_s, failed.upstream_status) == (
        FailureClass.STALL,
        1.5,
        None,
    )


def test_unknown_values_of_a_newer_service_are_read_as_the_safe_choice() -> None:
    failed = dispatch_pb2.Failed()
    failed.ParseFromString(b"\x08\xe7\x07")  # failure_class = 999
    part = part_of(dispatch_pb2.DispatchResponse(failed=failed))
    assert isinstance(part, Failed)
    assert part.failure is FailureClass.UPSTREAM_STATUS
    state = eligibility_pb2.ProviderEligibility(provider="p")
    state.MergeFromString(b"\x10\xe7\x07")  # availability = 999
    snapshot = snapshot_of(credentials_pb2.EligibilitySnapshot(providers=[state]))
    assert snapshot.providers[0].availability is Availability.USABLE


def test_a_model_that_another_key_may_know_is_not_refused() -> None:
    def aliases(fingerprint: str) -> eligibility_pb2.GatewayAliases:
        return eligibility_pb2.GatewayAliases(
            provider="gw", credential_fingerprint=fingerprint, upstream_id_by_model={"m": "x"}
        )

    refusal = credentials_pb2.EndpointRefusal(
        provider="gw", credential_fingerprint="one", model_id="m"
    )
    alone = credentials_pb2.EligibilitySnapshot(
        gateway_aliases=[aliases("one")], refusals=[refusal]
    )
    assert snapshot_of(alone).refused == (("gw", "m"),)
    both = credentials_pb2.EligibilitySnapshot(
        gateway_aliases=[aliases("one"), aliases("two")], refusals=[refusal]
    )
    assert snapshot_of(both).refused == ()


@pytest.mark.spec("XLT-164")
def test_a_forced_effort_goes_with_every_binding() -> None:
    binding = BindingRef("m", "p1", "up-m", 0)
    assert planned_binding(binding, "high").effort == "high"
    assert planned_binding(binding).effort == ""
    rescue = Rescue(RescueCause.SIBLING, (binding,))
    told = dispatch_pb2.RescueCandidate(**rescue_candidate(rescue, "low"))  # type: ignore[arg-type]  # by name
    assert [each.effort for each in told.bindings] == ["low"]
