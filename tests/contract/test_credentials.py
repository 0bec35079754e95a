"""The credentials service answers the same in process, on a Unix socket and over TCP."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import grpc
import pytest
from google.protobuf import duration_pb2, field_mask_pb2, timestamp_pb2
from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2, grant_pb2, header_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.build import build
from services.credentials.settings import CredentialsSettings
from services.domain.catalog import build_catalog
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime import host, status
from services.runtime.channel import Channel
from services.runtime.settings import CommonSettings
from tests.contract.transports import Serve, Served
from tests.fakes.clock import FakeClock

SOON_S = 5.0
KEY = "sk-ant-api03-canary-provider-key-0001"
TEAM = "sk-ant-api03-canary-team-key-0002"
TENANT = "11111111-2222-4333-8444-555555555555"

COMMON = CommonSettings.model_validate(
    {
        "providers": {
            "anthropic": {"api_key": KEY},
            "local": {"family": "openai_chat", "base_url": "http://127.0.0.1:9/v1"},
        },
        "credentials": [
            {"provider": "anthropic", "label": "team-a", "secret": TEAM, "excluded_models": ["n*"]},
        ],
    }
)


Watch: TypeAlias = (
    "grpc.aio.UnaryStreamCall[pb.WatchCredentialsRequest, pb.WatchCredentialsResponse]"
)


@dataclass(frozen=True)
class Rig:
    """A served credentials service, as the gateway and as dispatch call it."""

    clock: FakeClock
    served: Served

    @property
    def gateway(self) -> rpc.CredentialsServiceAsyncStub:
        return stub(self.served.channel("gateway"))

    @property
    def dispatch(self) -> rpc.CredentialsServiceAsyncStub:
        return stub(self.served.channel("dispatch"))


def stub(channel: Channel) -> rpc.CredentialsServiceAsyncStub:
    made: rpc.CredentialsServiceAsyncStub = rpc.CredentialsServiceStub(channel)
    return made


def bundle(
    folder: Path, clock: FakeClock, common: CommonSettings = COMMON, **more: object
) -> host.Bundle:
    settings = CredentialsSettings.model_validate(
        {"database": f"sqlite:///{folder}/credentials.db", "poll_seconds": 0, **more}
    )
    return build(settings, common, catalog=build_catalog([]), clock=clock, channel_to=no_peer)


def no_peer(name: str) -> Channel:
    raise AssertionError(name)


@pytest.fixture
async def rig(serve: Serve, tmp_path: Path, clock: FakeClock) -> Rig:
    return Rig(clock, await serve(bundle(tmp_path, clock)))


def action(name: str = "a1", session: bytes = b"") -> action_pb2.ActionContext:
    return action_pb2.ActionContext(
        action_id=name,
        installation_id=TENANT,
        session_key=session,
        surface=action_pb2.WIRE_FAMILY_ANTHROPIC,
        turn_type=action_pb2.TURN_TYPE_MAIN_LOOP,
    )


def binding(model: str = "m1", provider: str = "anthropic") -> binding_pb2.BindingRef:
    return binding_pb2.BindingRef(model_id=model, provider=provider)


def record(**more: object) -> eligibility_pb2.EligibilityRecord:
    return eligibility_pb2.EligibilityRecord(installation_id=TENANT, **more)  # type: ignore[arg-type]  # any field


def selecting(
    name: str = "a1", *bindings: binding_pb2.BindingRef, session: bytes = b"", **more: object
) -> pb.SelectCredentialRequest:
    return pb.SelectCredentialRequest(
        action=action(name, session),
        idempotency_key=f"{name}/1",
        bindings=bindings or (binding(),),
        eligibility=record(),
        **more,  # type: ignore[arg-type]  # any field
    )


def acquiring(
    number: int,
    *,
    tried: tuple[str, ...] = (),
    required: str = "",
    name: str = "a1",
    model: str = "m1",
    provider: str = "anthropic",
    purpose: pb.SecretPurpose = pb.SECRET_PURPOSE_SERVE,
) -> pb.AcquireSecretRequest:
    return pb.AcquireSecretRequest(
        action=action(name),
        selection=pb.SecretSelection(
            idempotency_key=f"{name}/{number}",
            binding=binding(model, provider),
            purpose=purpose,
            eligibility=record(),
            tried=tried,
            required_credential_id=required,
        ),
    )


def reporting(
    grant: grant_pb2.CredentialGrant,
    clock: FakeClock,
    status_code: int,
    *,
    number: int = 1,
    sequence: int = 1,
    headers: tuple[tuple[str, str], ...] = (),
) -> pb.AttemptReport:
    return pb.AttemptReport(
        grant_id=grant.grant_id,
        action_id="a1",
        attempt_number=number,
        sequence_number=sequence,
        credential_id=grant.credential_id,
        credential_version=grant.credential_version,
        binding=binding(),
        send_time=at(clock.now_unix_s()),
        headers=pb.AttemptHeaders(
            http_status=status_code,
            headers=[header_pb2.HeaderField(name=k, value=v) for k, v in headers],
            receive_time=at(clock.now_unix_s()),
        ),
    )


def ending(
    grant: grant_pb2.CredentialGrant, clock: FakeClock, kind: pb.EndKind, sequence: int = 2
) -> pb.AttemptReport:
    report = reporting(grant, clock, 0, sequence=sequence)
    report.ended.CopyFrom(pb.AttemptEnded(kind=kind, end_time=at(clock.now_unix_s())))
    return report


def at(unix_s: float) -> timestamp_pb2.Timestamp:
    return timestamp_pb2.Timestamp(seconds=int(unix_s), nanos=int(unix_s % 1 * 1e9))


def stored_bytes(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.iterdir())


async def read(call: Watch) -> pb.WatchCredentialsResponse:
    message = await asyncio.wait_for(call.read(), SOON_S)
    assert isinstance(message, pb.WatchCredentialsResponse)
    return message


async def denied(call: object) -> RouterError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]  # a call of either transport
    return status.error_of(caught.value)


@pytest.mark.spec("CRD-96")
async def test_a_grant_has_no_secret_and_dispatch_alone_gets_it(rig: Rig) -> None:
    first = await rig.gateway.SelectCredential(selecting("a1"), timeout=SOON_S)
    second = await rig.gateway.SelectCredential(selecting("a2"), timeout=SOON_S)
    assert first.grant.credential_id != second.grant.credential_id
    assert first.grant.secret_cache_key != second.grant.secret_cache_key
    assert len(first.grant.attribution.fingerprint) == 8
    assert first.grant.attribution.owner == grant_pb2.CREDENTIAL_OWNER_OPERATOR
    assert b"canary" not in first.SerializeToString()
    asked = pb.AcquireSecretRequest(action=action("a1"), grant_id=first.grant.grant_id)
    got = await rig.dispatch.AcquireSecret(asked, timeout=SOON_S)
    assert got.grant == first.grant
    assert got.auth.scheme == pb.AUTH_SCHEME_X_API_KEY
    assert got.auth.value_secret in (KEY, TEAM)
    assert got.cache_until_time.seconds == int(rig.clock.now_unix_s()) + 60
    error = await denied(rig.gateway.AcquireSecret(asked, timeout=SOON_S))
    assert error.reason is Reason.CALLER_NOT_ALLOWED


async def test_a_repeat_of_a_selection_answers_the_same_grant(rig: Rig) -> None:
    answers = [
        await rig.gateway.SelectCredential(selecting("a1"), timeout=SOON_S) for _ in range(3)
    ]
    assert len({answer.grant.grant_id for answer in answers}) == 1


async def test_a_key_of_one_selection_opens_no_secret_for_another_place(rig: Rig) -> None:
    await rig.dispatch.AcquireSecret(acquiring(2), timeout=SOON_S)
    elsewhere = acquiring(2, provider="local")
    error = await denied(rig.dispatch.AcquireSecret(elsewhere, timeout=SOON_S))
    assert isinstance(error, InvalidRequestError)
    assert error.violations[0].field == "idempotency_key"


async def test_a_grant_is_its_actions_alone(rig: Rig) -> None:
    answer = await rig.gateway.SelectCredential(selecting("a1"), timeout=SOON_S)
    other = pb.AcquireSecretRequest(action=action("a2"), grant_id=answer.grant.grant_id)
    error = await denied(rig.dispatch.AcquireSecret(other, timeout=SOON_S))
    assert error.reason is Reason.GRANT_UNKNOWN


@pytest.mark.spec("XLT-78")
async def test_the_account_that_keeps_a_conversation_is_answered_or_none(rig: Rig) -> None:
    found = {
        (await rig.dispatch.AcquireSecret(acquiring(n), timeout=SOON_S)).grant.credential_id
        for n in range(2, 6)
    }
    assert len(found) == 2
    for number, one in enumerate(sorted(found) * 2, 6):
        asked = acquiring(number, required=one)
        answer = await rig.dispatch.AcquireSecret(asked, timeout=SOON_S)
        assert answer.grant.credential_id == one
    await denied(rig.dispatch.AcquireSecret(acquiring(10, required="gone"), timeout=SOON_S))


@pytest.mark.spec("CRD-107", "CRD-110")
async def test_a_throttled_credential_rotates_and_then_all_cool(rig: Rig) -> None:
    first = (await rig.dispatch.AcquireSecret(acquiring(2), timeout=SOON_S)).grant
    throttled = reporting(first, rig.clock, 429, headers=(("retry-after", "7"),))
    result = await rig.dispatch.ReportAttempt(
        pb.ReportAttemptRequest(reports=[throttled, throttled]), timeout=SOON_S
    )
    assert [one.outcome for one in result.results] == [
        pb.REPORT_OUTCOME_APPLIED,
        pb.REPORT_OUTCOME_DUPLICATE,
    ]
    assert result.results[0].transitions[0].mark.kind == pb.MARK_KIND_QUOTA
    rotated = acquiring(3, tried=(first.credential_id,))
    second = (await rig.dispatch.AcquireSecret(rotated, timeout=SOON_S)).grant
    assert second.credential_id != first.credential_id
    tried = acquiring(4, tried=(first.credential_id, second.credential_id))
    error = await denied(rig.dispatch.AcquireSecret(tried, timeout=SOON_S))
    assert error.reason is Reason.ALL_CREDENTIALS_TRIED
    throttled = reporting(second, rig.clock, 429, headers=(("Retry-After", "3.2"),))
    await rig.dispatch.ReportAttempt(pb.ReportAttemptRequest(reports=[throttled]), timeout=SOON_S)
    error = await denied(rig.gateway.SelectCredential(selecting("a9"), timeout=SOON_S))
    assert error.reason is Reason.ALL_CREDENTIALS_COOLING
    assert error.retry_after_s == 4.0
    rig.clock.advance(3.2)
    again = await rig.gateway.SelectCredential(selecting("a10"), timeout=SOON_S)
    assert again.grant.credential_id == second.credential_id


@pytest.mark.spec("CRD-130")
async def test_marks_survive_a_restart(serve: Serve, tmp_path: Path, clock: FakeClock) -> None:
    one = Rig(clock, await serve(bundle(tmp_path, clock)))
    grant = (await one.gateway.SelectCredential(selecting("a1"), timeout=SOON_S)).grant
    report = reporting(grant, clock, 429, headers=(("retry-after", "900"),))
    await one.dispatch.ReportAttempt(pb.ReportAttemptRequest(reports=[report]), timeout=SOON_S)
    before = await one.gateway.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    await one.served.bundle.aclose()
    two = Rig(clock, await serve(bundle(tmp_path, clock)))
    after = await two.gateway.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    for credential in (*before.credentials, *after.credentials):
        credential.in_flight_count = 0
    assert after == before
    for number in range(4):
        answer = await two.gateway.SelectCredential(selecting(f"b{number}"), timeout=SOON_S)
        assert answer.grant.credential_id != grant.credential_id


async def test_denials_say_what_to_do_and_name_no_credential(
    serve: Serve, tmp_path: Path, clock: FakeClock
) -> None:
    off = {
        "provider": "anthropic",
        "label": "off",
        "secret": "sk-ant-api-canary",
        "enabled": False,
    }
    common = CommonSettings.model_validate({"credentials": [off]})
    gateway = Rig(clock, await serve(bundle(tmp_path, clock, common))).gateway
    error = await denied(gateway.SelectCredential(selecting("a1"), timeout=SOON_S))
    assert error.reason is Reason.CREDENTIALS_UNAVAILABLE
    asked = selecting("a2", binding("m1", "openai"))
    error = await denied(gateway.SelectCredential(asked, timeout=SOON_S))
    assert error.reason is Reason.NO_ELIGIBLE_PROVIDER
    assert "openai" in error.message
    forbidden = selecting("a3")
    forbidden.eligibility.excluded_providers.add(provider="anthropic")
    error = await denied(gateway.SelectCredential(forbidden, timeout=SOON_S))
    assert error.reason is Reason.ELIGIBILITY_VIOLATION
    error = await denied(gateway.SelectCredential(pb.SelectCredentialRequest(), timeout=SOON_S))
    assert error.reason is Reason.INVALID_REQUEST
    assert error.metadata["field"] == "action"


async def test_the_next_binding_serves_where_the_first_has_no_credential(rig: Rig) -> None:
    asked = selecting("a1", binding("m1", "openai"), binding("m1", "anthropic"))
    answer = await rig.gateway.SelectCredential(asked, timeout=SOON_S)
    assert (answer.binding_index, answer.grant.binding.provider) == (1, "anthropic")


async def test_a_provider_that_needs_no_key_shows_no_credential(rig: Rig) -> None:
    answer = await rig.gateway.SelectCredential(
        selecting("a1", binding("m1", "local")), timeout=SOON_S
    )
    grant = answer.grant
    assert grant.attribution.kind == grant_pb2.CREDENTIAL_KIND_NONE
    assert (grant.credential_id, grant.secret_cache_key, grant.credential_version) == ("", "", 0)
    got = await rig.dispatch.AcquireSecret(
        pb.AcquireSecretRequest(action=action("a1"), grant_id=grant.grant_id), timeout=SOON_S
    )
    assert got.auth.scheme == pb.AUTH_SCHEME_NONE
    assert not got.HasField("cache_until_time")
    error = await denied(
        rig.dispatch.AcquireSecret(acquiring(2, tried=("",), provider="local"), timeout=SOON_S)
    )
    assert error.reason is Reason.ALL_CREDENTIALS_TRIED


@pytest.mark.spec("CRD-100")
async def test_a_session_stays_on_its_credential(rig: Rig) -> None:
    async def pick(name: str, session: bytes) -> str:
        asked = selecting(name, session=session)
        answer = await rig.gateway.SelectCredential(asked, timeout=SOON_S)
        return answer.grant.credential_id

    first = await pick("a0", b"s" * 16)
    assert {await pick(f"a{n}", b"s" * 16) for n in range(1, 5)} == {first}
    assert await pick("b0", b"t" * 16) != first


@pytest.mark.spec("CRD-158", "CRD-159", "CRD-94")
async def test_a_full_credential_is_skipped_and_freed_by_its_end(
    serve: Serve, tmp_path: Path, clock: FakeClock
) -> None:
    limited = {"provider": "anthropic", "secret": "sk-ant-api-canary", "max_in_flight": 1}
    common = CommonSettings.model_validate({"credentials": [limited]})
    rig = Rig(clock, await serve(bundle(tmp_path, clock, common)))
    grant = (await rig.gateway.SelectCredential(selecting("a1"), timeout=SOON_S)).grant
    error = await denied(rig.gateway.SelectCredential(selecting("a2"), timeout=SOON_S))
    assert error.reason is Reason.CREDENTIAL_CONCURRENCY
    assert error.retry_after_s is not None
    clock.set_now_unix_s(clock.now_unix_s())
    patient = selecting("a3")
    patient.max_wait.CopyFrom(duration_pb2.Duration(seconds=4))
    waiting = asyncio.ensure_future(rig.gateway.SelectCredential(patient, timeout=SOON_S))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    end = ending(grant, clock, pb.END_KIND_SUCCEEDED)
    await rig.dispatch.ReportAttempt(pb.ReportAttemptRequest(reports=[end]), timeout=SOON_S)
    assert (await waiting).grant.credential_id == grant.credential_id
    clock.advance(61)
    freed = await rig.gateway.SelectCredential(selecting("a4"), timeout=SOON_S)
    assert freed.grant.credential_id == grant.credential_id
    expired = pb.AcquireSecretRequest(action=action("a1"), grant_id=grant.grant_id)
    error = await denied(rig.dispatch.AcquireSecret(expired, timeout=SOON_S))
    assert error.reason is Reason.GRANT_EXPIRED


@pytest.mark.spec("CRD-18", "CRD-19")
async def test_presented_credentials_are_named_by_a_hash_and_never_stored(
    rig: Rig, tmp_path: Path
) -> None:
    mine = "sk-ant-oat01-canary-caller-plan"
    asked = pb.GetEligibilityRequest(
        installation_id=TENANT,
        presented=[
            grant_pb2.PresentedCredential(
                presented_secret=secret, surface=action_pb2.WIRE_FAMILY_ANTHROPIC
            )
            for secret in ("rk_canarycanarycanary", mine, "sk-proj-canary-openai")
        ],
    )
    answer = await rig.gateway.GetEligibility(asked, timeout=SOON_S)
    assert len(answer.presented) == 1
    identity = answer.presented[0].identity
    assert (identity.provider, len(identity.presented_hash)) == ("anthropic", 32)
    assert answer.presented[0].plan.owner == grant_pb2.CREDENTIAL_OWNER_CALLER
    granted = await rig.gateway.SelectCredential(
        selecting("a1", presented=[identity]), timeout=SOON_S
    )
    grant = granted.grant
    assert grant.presented_hash == identity.presented_hash
    assert (grant.credential_id, grant.secret_cache_key) == ("", "")
    assert grant.attribution.is_subscription_served
    suppressed = selecting("a2", presented=[identity])
    suppressed.eligibility.suppressed_plans.add(
        kind=identity.kind, owner=grant_pb2.CREDENTIAL_OWNER_CALLER
    )
    paid = await rig.gateway.SelectCredential(suppressed, timeout=SOON_S)
    assert paid.grant.attribution.owner == grant_pb2.CREDENTIAL_OWNER_OPERATOR
    await rig.served.bundle.aclose()
    assert b"canary" not in stored_bytes(tmp_path)


async def test_the_snapshot_is_short_when_it_is_known(rig: Rig) -> None:
    asked = pb.GetEligibilityRequest(installation_id=TENANT)
    answer = await rig.gateway.GetEligibility(asked, timeout=SOON_S)
    assert [one.provider for one in answer.snapshot.providers] == ["anthropic", "local"]
    assert {one.availability for one in answer.snapshot.providers} == {
        eligibility_pb2.PROVIDER_AVAILABILITY_USABLE
    }
    assert not answer.snapshot.has_tenant_credentials
    asked.known_version = answer.snapshot.version
    again = await rig.gateway.GetEligibility(asked, timeout=SOON_S)
    assert again.is_unchanged
    assert not again.HasField("snapshot")


async def test_credentials_are_made_changed_listed_and_removed(rig: Rig) -> None:
    operator = rig.gateway
    spec = pb.CredentialSpec(
        provider="openai", kind=grant_pb2.CREDENTIAL_KIND_API_KEY, label="canary-label"
    )
    making = pb.CreateCredentialRequest(
        idempotency_key="k1",
        spec=spec,
        secrets=pb.CredentialSecrets(value_secret="sk-canary-stored-key-abcd"),
        actor="ann",
    )
    made = (await operator.CreateCredential(making, timeout=SOON_S)).credential
    again = (await operator.CreateCredential(making, timeout=SOON_S)).credential
    assert again == made
    assert made.secret_suffix == "abcd"
    making.idempotency_key = "k2"
    error = await denied(operator.CreateCredential(making, timeout=SOON_S))
    assert error.reason is Reason.CREDENTIAL_DUPLICATE
    switched = pb.UpdateCredentialRequest(
        credential_id=made.credential_id,
        expected_state_version=made.state_version,
        spec=pb.CredentialSpec(is_enabled=False),
        update_mask=field_mask_pb2.FieldMask(paths=["is_enabled"]),
        actor="ann",
    )
    off = (await operator.UpdateCredential(switched, timeout=SOON_S)).credential
    assert not off.spec.is_enabled
    assert off.spec.label == "canary-label"
    error = await denied(operator.UpdateCredential(switched, timeout=SOON_S))
    assert error.reason is Reason.VERSION_CONFLICT
    rotated = pb.UpdateCredentialRequest(
        credential_id=made.credential_id,
        secrets=pb.CredentialSecrets(value_secret="sk-canary-new"),
        actor="ann",
    )
    new = (await operator.UpdateCredential(rotated, timeout=SOON_S)).credential
    assert new.credential_version == made.credential_version + 1
    listed = await operator.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    assert new in listed.credentials
    removing = pb.DeleteCredentialRequest(credential_id=made.credential_id, actor="ann")
    await operator.DeleteCredential(removing, timeout=SOON_S)
    await operator.DeleteCredential(removing, timeout=SOON_S)
    error = await denied(operator.UpdateCredential(rotated, timeout=SOON_S))
    assert error.reason is Reason.CREDENTIAL_NOT_FOUND


async def test_a_gateways_key_keeps_an_address_of_its_own(rig: Rig) -> None:
    making = pb.CreateCredentialRequest(
        idempotency_key="k1",
        spec=pb.CredentialSpec(
            provider="openai",
            kind=grant_pb2.CREDENTIAL_KIND_GATEWAY,
            base_url="https://gateway.example/v1",
        ),
        secrets=pb.CredentialSecrets(value_secret="canary"),
        actor="ann",
    )
    made = (await rig.gateway.CreateCredential(making, timeout=SOON_S)).credential
    changing = pb.UpdateCredentialRequest(
        credential_id=made.credential_id,
        update_mask=field_mask_pb2.FieldMask(paths=["base_url"]),
        actor="ann",
    )
    error = await denied(rig.gateway.UpdateCredential(changing, timeout=SOON_S))
    assert isinstance(error, InvalidRequestError)
    assert error.violations[0].field == "spec.base_url"
    listed = await rig.gateway.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    assert made in listed.credentials


@pytest.mark.parametrize("seconds", [-1, 253_402_300_800, 2**63 - 1])
async def test_a_token_that_ends_at_no_time_there_is_is_not_stored(rig: Rig, seconds: int) -> None:
    making = pb.CreateCredentialRequest(
        idempotency_key="k1",
        spec=pb.CredentialSpec(provider="openai", kind=grant_pb2.CREDENTIAL_KIND_CODEX_OAUTH),
        secrets=pb.CredentialSecrets(
            value_secret="canary", expire_time=timestamp_pb2.Timestamp(seconds=seconds)
        ),
        actor="ann",
    )
    error = await denied(rig.gateway.CreateCredential(making, timeout=SOON_S))
    assert isinstance(error, InvalidRequestError)
    assert error.violations[0].field == "secrets.expire_time"
    listed = await rig.gateway.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    assert {one.spec.provider for one in listed.credentials} == {"anthropic", "local"}


@pytest.mark.parametrize("field", ["grant_id", "action_id"])
async def test_a_report_under_a_name_that_is_none_is_set_aside(rig: Rig, field: str) -> None:
    given = (await rig.dispatch.AcquireSecret(acquiring(2), timeout=SOON_S)).grant
    report = reporting(given, rig.clock, 200)
    setattr(report, field, "a" * 65)
    told = await rig.dispatch.ReportAttempt(
        pb.ReportAttemptRequest(reports=[report]), timeout=SOON_S
    )
    assert [one.outcome for one in told.results] == [pb.REPORT_OUTCOME_INVALID]


@pytest.mark.parametrize("field", ["send_time", "headers.receive_time"])
@pytest.mark.parametrize(("seconds", "nanos"), [(-(10**15), 0), (2**62, 0), (1, -1)])
async def test_a_report_of_a_time_that_is_none_is_set_aside(
    rig: Rig, field: str, seconds: int, nanos: int
) -> None:
    given = (await rig.dispatch.AcquireSecret(acquiring(2), timeout=SOON_S)).grant
    report = reporting(given, rig.clock, 429)
    time = report.send_time if field == "send_time" else report.headers.receive_time
    time.CopyFrom(timestamp_pb2.Timestamp(seconds=seconds, nanos=nanos))
    reports = pb.ReportAttemptRequest(reports=[report, reporting(given, rig.clock, 200)])
    told = await rig.dispatch.ReportAttempt(reports, timeout=SOON_S)
    assert [one.outcome for one in told.results] == [
        pb.REPORT_OUTCOME_INVALID,
        pb.REPORT_OUTCOME_APPLIED,
    ]


@pytest.mark.spec("DSP-186")
@pytest.mark.parametrize("is_declared", [True, False])
async def test_who_gave_an_address_is_told(
    serve: Serve, tmp_path: Path, clock: FakeClock, is_declared: bool
) -> None:
    """What the configuration says is trusted; what a tenant says is checked by dispatch."""
    url, alias = "http://127.0.0.1:9/v1", {"m1": "their-m1"}
    entry = {"provider": "local", "kind": "gateway", "secret": "key", "installation": TENANT}
    pool = [{**entry, "base_url": url, "aliases": alias}] if is_declared else []
    common = COMMON.model_copy(
        update={"credentials": CommonSettings.model_validate({"credentials": pool}).credentials}
    )
    rig = Rig(clock, await serve(bundle(tmp_path, clock, common)))
    if not is_declared:
        spec = pb.CredentialSpec(
            provider="local",
            kind=grant_pb2.CREDENTIAL_KIND_GATEWAY,
            installation_id=TENANT,
            base_url=url,
            upstream_id_by_model=alias,
        )
        secrets = pb.CredentialSecrets(value_secret="key")
        making = pb.CreateCredentialRequest(
            idempotency_key="k1", spec=spec, secrets=secrets, actor="ann"
        )
        await rig.gateway.CreateCredential(making, timeout=SOON_S)
    got = await rig.dispatch.AcquireSecret(acquiring(1, provider="local"), timeout=SOON_S)
    assert got.endpoint.base_url == url
    assert got.endpoint.is_tenant_given == (not is_declared)


@pytest.mark.spec("CRD-154")
async def test_a_page_ends_before_its_message_is_too_large(rig: Rig) -> None:
    for number in range(6):
        spec = pb.CredentialSpec(
            provider="openai",
            kind=grant_pb2.CREDENTIAL_KIND_API_KEY,
            model_ids=[f"model-{number}-{'x' * 50}"] * 1_000,
        )
        secrets = pb.CredentialSecrets(value_secret=f"canary-{number}")
        making = pb.CreateCredentialRequest(
            idempotency_key=f"k{number}", spec=spec, secrets=secrets, actor="ann"
        )
        await rig.gateway.CreateCredential(making, timeout=SOON_S)
    found: list[str] = []
    asked = pb.ListCredentialsRequest(page_size=1000, provider="openai")
    while True:
        page = await rig.gateway.ListCredentials(asked, timeout=SOON_S)
        found += [one.credential_id for one in page.credentials]
        asked.page_token = page.next_page_token
        if not asked.page_token:
            break
    assert (len(found), len(set(found))) == (6, 6)


@pytest.mark.spec("CRD-154")
async def test_pages_hold_every_credential_once_and_no_secret(rig: Rig) -> None:
    seen: list[str] = []
    token, pages = "", 0
    while True:
        asked = pb.ListCredentialsRequest(page_size=1, page_token=token)
        page = await rig.gateway.ListCredentials(asked, timeout=SOON_S)
        assert b"canary" not in page.SerializeToString()
        seen += [one.credential_id for one in page.credentials]
        token, pages = page.next_page_token, pages + 1
        if not token:
            break
    assert (len(set(seen)), pages) == (3, 3)
    error = await denied(
        rig.gateway.ListCredentials(pb.ListCredentialsRequest(page_token="?"), timeout=SOON_S)
    )
    assert error.reason is Reason.INVALID_REQUEST


async def test_what_configuration_states_is_changed_there_but_for_its_switch(rig: Rig) -> None:
    listed = await rig.gateway.ListCredentials(pb.ListCredentialsRequest(), timeout=SOON_S)
    pooled = next(one for one in listed.credentials if one.spec.label == "team-a")
    change = pb.UpdateCredentialRequest(
        credential_id=pooled.credential_id,
        spec=pb.CredentialSpec(priority=3),
        update_mask=field_mask_pb2.FieldMask(paths=["priority"]),
        actor="ann",
    )
    error = await denied(rig.gateway.UpdateCredential(change, timeout=SOON_S))
    assert error.reason is Reason.INVALID_REQUEST
    assert "configuration" in error.message
    change.update_mask.paths[:] = ["is_enabled"]
    change.spec.is_enabled = False
    off = (await rig.gateway.UpdateCredential(change, timeout=SOON_S)).credential
    assert not off.spec.is_enabled


@pytest.mark.spec("CRD-52")
async def test_a_reset_clears_the_marks(rig: Rig) -> None:
    grant = (await rig.gateway.SelectCredential(selecting("a1"), timeout=SOON_S)).grant
    report = reporting(grant, rig.clock, 401)
    await rig.dispatch.ReportAttempt(pb.ReportAttemptRequest(reports=[report]), timeout=SOON_S)
    reset = pb.ResetQuotaRequest(credential_id=grant.credential_id, actor="ann")
    done = await rig.gateway.ResetQuota(reset, timeout=SOON_S)
    assert [one.is_cleared for one in done.transitions] == [True]
    assert done.transitions[0].cause == pb.TRANSITION_CAUSE_MANUAL
    assert not done.credential.marks
    assert not (await rig.gateway.ResetQuota(reset, timeout=SOON_S)).transitions


@pytest.mark.spec("CRD-150")
async def test_secrets_are_sealed_anew_under_the_first_key(
    serve: Serve, tmp_path: Path, clock: FakeClock
) -> None:
    old, new = "0a" * 32, "0b" * 32
    await serve(bundle(tmp_path, clock, encryption_keys=[old]))
    both = stub(
        (await serve(bundle(tmp_path, clock, encryption_keys=[new, old]))).channel("gateway")
    )
    asked = pb.ReencryptCredentialsRequest(actor="tester")
    first = await both.ReencryptCredentials(asked, timeout=SOON_S)
    assert (first.changed_count, first.unreadable_count) == (2, 0)
    again = await both.ReencryptCredentials(asked, timeout=SOON_S)
    assert (again.changed_count, again.unreadable_count) == (0, 0)
    assert again.kept_count >= 2
    nameless = await denied(both.ReencryptCredentials(pb.ReencryptCredentialsRequest(), timeout=1))
    assert "actor: must be set" in nameless.message


@pytest.mark.spec("CRD-162", "CRD-163", "CRD-164")
async def test_an_explanation_moves_nothing_and_equals_the_next_pick(rig: Rig) -> None:
    for number in range(5):
        asked = selecting(f"a{number}")
        dry = await rig.gateway.ExplainSelection(
            pb.ExplainSelectionRequest(selection=asked), timeout=SOON_S
        )
        real = await rig.gateway.SelectCredential(asked, timeout=SOON_S)
        past = await rig.gateway.ExplainSelection(
            pb.ExplainSelectionRequest(idempotency_key=f"a{number}/1"), timeout=SOON_S
        )
        assert dry.record.fingerprint == real.grant.attribution.fingerprint
        assert past.record.verdicts == dry.record.verdicts
        for told in (dry.record, real.record, past.record):
            shown = (told.bucket, told.priority, told.strategy, told.is_affinity_hit)
            clean, turn = grant_pb2.CREDENTIAL_BUCKET_CLEAN, pb.SELECTION_STRATEGY_ROUND_ROBIN
            assert shown == (clean, 0, turn, False)
            assert (told.candidate_count, told.eligible_count) == (2, 2)
            assert told.state_version > 0
            assert told.elapsed.ToNanoseconds() > 0
        assert all(len(one.fingerprint) == 8 for one in dry.record.verdicts)
        kinds = sorted(one.verdict for one in dry.record.verdicts)
        assert kinds == [pb.VERDICT_KIND_PICKED, pb.VERDICT_KIND_NOT_THIS_TURN]
    unknown = pb.ExplainSelectionRequest(idempotency_key="never")
    error = await denied(rig.gateway.ExplainSelection(unknown, timeout=SOON_S))
    assert error.reason is Reason.SELECTION_NOT_FOUND
    none = pb.ExplainSelectionRequest(selection=selecting("z", binding("m", "openai")))
    answer = await rig.gateway.ExplainSelection(none, timeout=SOON_S)
    assert (answer.binding_index, answer.denial_reason) == (-1, "NO_ELIGIBLE_PROVIDER")


async def test_a_watcher_gets_a_snapshot_then_changes_and_can_resume(rig: Rig) -> None:
    asked = pb.WatchCredentialsRequest(
        installation_id=TENANT, wants_snapshot=True, wants_eligibility=True
    )
    call = rig.gateway.WatchCredentials(asked)
    first = await read(call)
    assert first.eligibility.installation_id == TENANT
    end = await read(call)
    assert end.snapshot_end.eligibility_count == 1
    for number in range(2):
        answer = await rig.gateway.SelectCredential(selecting(f"a{number}"), timeout=SOON_S)
        report = reporting(answer.grant, rig.clock, 402)
        await rig.dispatch.ReportAttempt(pb.ReportAttemptRequest(reports=[report]), timeout=SOON_S)
    await rig.clock.pass_time(0.2)
    change = await read(call)
    colours = {p.provider: p.availability for p in change.eligibility.providers}
    assert colours["anthropic"] == eligibility_pb2.PROVIDER_AVAILABILITY_COOLING
    assert len(change.eligibility.passed_over_fingerprints) == 2
    call.cancel()
    resumed = rig.gateway.WatchCredentials(
        pb.WatchCredentialsRequest(
            installation_id=TENANT, resume_token=end.resume_token, wants_eligibility=True
        )
    )
    await read(resumed)
    assert (await read(resumed)).eligibility == change.eligibility
    resumed.cancel()
    epoch = end.resume_token.partition(".")[0]
    for token in ("other.1", f"{epoch}.²", f"{epoch}.{'9' * 5000}", f"{epoch}.-1", epoch):
        lost = rig.gateway.WatchCredentials(
            pb.WatchCredentialsRequest(resume_token=token, wants_eligibility=True)
        )
        error = await denied(read(lost))
        assert error.reason is Reason.RESUME_TOKEN_EXPIRED


async def test_calls_of_our_own_need_no_tenant_to_list_models(rig: Rig) -> None:
    request = acquiring(2, purpose=pb.SECRET_PURPOSE_LIST_MODELS, model="")
    request.action.installation_id = ""
    request.selection.ClearField("eligibility")
    got = await rig.dispatch.AcquireSecret(request, timeout=SOON_S)
    assert got.auth.value_secret in (KEY, TEAM)


@pytest.mark.spec("CRD-12")
async def test_excluded_models_leave_the_other_credential(rig: Rig) -> None:
    for number in range(3):
        got = await rig.dispatch.AcquireSecret(
            acquiring(2, name=f"a{number}", model="n1"), timeout=SOON_S
        )
        assert got.auth.value_secret == KEY
