from __future__ import annotations

from dataclasses import replace

import pytest
from pointsman.common.v1 import action_pb2, attempt_pb2, grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as credentials_pb
from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.dispatch.codec import common, enums, parts, peers, requests
from services.dispatch.codec.enums import Table
from services.dispatch.model.access import (
    CredentialDenied,
    Ended,
    Grant,
    HeadersSeen,
    Report,
    StillAlive,
)
from services.dispatch.model.enums import AttemptCause, EndKind, WalkEnd
from services.dispatch.model.outcome import Fault, Started, Unserved
from services.dispatch.model.plan import BindingRef, Budget
from services.domain.errors import InvalidRequestError
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass, WireFamily
from services.domain.wire.model import Address
from tests.fakes.credentials import attribution_of

LATER = {
    "ATTEMPT_OUTCOME_": {"ABORTED"},
    "WALK_END_": {"CANCELLED"},
}
"""Values of the contract that dispatch never sends: a caller that left is told nothing."""

TABLES = [value for value in vars(enums).values() if isinstance(value, Table)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.prefix)
def test_each_table_is_the_contracts_enum(table: Table[AttemptCause]) -> None:
    ours = {table.prefix + member.name for member in table.ours}
    left_out = {table.prefix + name for name in LATER.get(table.prefix, ())}
    assert ours == set(table.numbers) - left_out - {table.prefix + "UNSPECIFIED"}
    for member in table.ours:
        number = table.number(member)
        assert number == table.numbers[table.prefix + member.name]
        assert table.get(number) is member


def request() -> pb.DispatchRequest:
    message = pb.DispatchRequest(
        action=action_pb2.ActionContext(action_id="a", installation_id="i"),
        kind=attempt_pb2.ATTEMPT_KIND_SERVE,
    )
    message.body.wire_family = action_pb2.WIRE_FAMILY_ANTHROPIC
    message.body.body = b"{}"
    message.eligibility.installation_id = "i"
    message.features.SetInParent()
    message.plan.first_attempt_number = 1
    for provider in ("p", "q"):
        binding = message.plan.bindings.add().binding
        binding.model_id, binding.provider = "m", provider
    return message


def test_a_path_counts_in_the_dialect_that_has_one() -> None:
    message = request()
    message.body.path_model, message.body.is_stream = "m", True
    assert requests.order_of(message, Budget()).address is None
    message.body.wire_family = action_pb2.WIRE_FAMILY_GEMINI
    assert requests.order_of(message, Budget()).address == Address("m", is_stream=True)
    count = pb.CountTokensRequest(action=message.action, body=message.body)
    assert requests.count_order_of(count).address == Address("m", is_stream=True)


def test_a_plan_begins_where_selection_answered() -> None:
    message = request()
    message.plan.start_index = 1
    message.plan.budget.same_binding_retry_count = 0
    message.plan.budget.max_throttle_wait.FromMilliseconds(1500)
    plan = requests.order_of(message, Budget()).plan
    assert [row.ref.provider for row in plan.bindings] == ["q"]
    assert (plan.start_index, plan.planned_provider) == (1, "p")
    assert plan.budget == Budget(same_binding_retries=0, max_throttle_wait_s=1.5)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda m: m.action.ClearField("action_id"), "action.action_id"),
        (lambda m: setattr(m.action, "action_id", "a b"), "action.action_id"),
        (lambda m: setattr(m.action, "session_key", b"short"), "action.session_key"),
        (lambda m: m.body.ClearField("wire_family"), "body.wire_family"),
        (lambda m: m.body.ClearField("body"), "body.body"),
        (lambda m: m.ClearField("kind"), "kind"),
        (lambda m: m.plan.ClearField("bindings"), "plan.bindings"),
        (lambda m: setattr(m.plan, "start_index", 2), "plan.start_index"),
        (lambda m: setattr(m.plan, "first_attempt_number", 0), "plan.first_attempt_number"),
        (lambda m: setattr(m.plan, "first_attempt_number", 2**31 - 1), "plan.first_attempt_number"),
        (lambda m: setattr(m.plan, "affinity_key", "a\nb"), "plan.affinity_key"),
        (lambda m: setattr(m.eligibility, "installation_id", "x"), "eligibility.installation_id"),
        (
            lambda m: m.plan.bindings[1].binding.ClearField("model_id"),
            "plan.bindings[1].binding.model_id",
        ),
        (
            lambda m: setattr(m.plan.budget, "max_attempt_count", 7),
            "plan.budget.max_attempt_count",
        ),
        (
            lambda m: m.plan.budget.pre_commit_duration.FromSeconds(-1),
            "plan.budget.pre_commit_duration",
        ),
        (
            lambda m: setattr(m.plan.budget.max_throttle_wait, "nanos", -1),
            "plan.budget.max_throttle_wait",
        ),
        (
            lambda m: setattr(m.plan.bindings[1], "context_window_token_count", -1),
            "plan.bindings[1].context_window_token_count",
        ),
        (lambda m: setattr(m.plan.grant, "why", "x"), "plan.grant.grant_id"),
        (lambda m: m.plan.presented.add(), "plan.presented[0].presented_secret"),
        (
            lambda m: m.plan.presented.add(presented_secret="sk\r\nx: y"),
            "plan.presented[0].presented_secret",
        ),
        (lambda m: m.ClearField("features"), "features"),
        (
            lambda m: setattr(m.features, "input_token_count", -1),
            "features.input_token_count",
        ),
        (
            lambda m: setattr(m.features, "max_output_token_count", 2**31),
            "features.max_output_token_count",
        ),
        (
            lambda m: m.relayed_headers.add(name="anthropic-beta", value="a\r\nb: c"),
            "relayed_headers[0].value",
        ),
        (
            lambda m: [m.relayed_headers.add(name="a", value="b") for _ in range(65)],
            "relayed_headers",
        ),
    ],
)
def test_a_bad_field_is_named(change: object, field: str) -> None:
    message = request()
    assert callable(change)
    change(message)
    with pytest.raises(InvalidRequestError) as caught:
        requests.order_of(message, Budget())
    assert caught.value.violations[0].field == field


def test_an_answer_of_credentials_that_lacks_its_grant_is_no_fault_of_the_callers() -> None:
    answer = credentials_pb.AcquireSecretResponse()
    answer.auth.scheme = credentials_pb.AUTH_SCHEME_BEARER
    with pytest.raises(CredentialDenied) as caught:
        peers.access_of(answer)
    assert caught.value.failure_class is FailureClass.CREDENTIALS_UNREACHABLE


def test_a_page_token_is_ours_or_refused() -> None:
    message = pb.ListUpstreamModelsRequest(provider="p", page_token=requests.page_token("m/1"))
    order = requests.list_order_of(message)
    assert (order.after, order.page_size) == ("m/1", 100)
    message.page_token = "%"
    with pytest.raises(InvalidRequestError):
        requests.list_order_of(message)


def test_secrets_stay_out_of_reprs() -> None:
    message = request()
    row = message.plan.presented.add(presented_secret="sk-sentinel")
    row.identity.presented_hash, row.identity.provider = "h", "p"
    row.identity.kind = grant_pb2.CREDENTIAL_KIND_API_KEY
    message.body.body = b"body-sentinel"
    assert "sentinel" not in repr(requests.order_of(message, Budget()))


def test_parts_become_messages() -> None:
    assert parts.message_of(b"x") == pb.DispatchResponse(chunk=b"x")
    started = Started(
        number=2,
        plan_index=0,
        binding=BindingRef("m", "p"),
        family=WireFamily.ANTHROPIC,
        cause=AttemptCause.RETRY,
        context_window_tokens=9,
        credential=None,
        wait_s=0.25,
    )
    message = parts.message_of(started).attempt_started
    assert message.cause == attempt_pb2.ATTEMPT_CAUSE_RETRY
    assert message.wait.ToMilliseconds() == 250
    assert not message.HasField("credential")
    assert not parts.message_of(replace(started, wait_s=0.0)).attempt_started.HasField("wait")


@pytest.mark.spec("DSP-55", "XLT-206")
def test_only_of_a_request_that_cannot_be_said_the_reason_is_told() -> None:
    fault = Fault(FailureClass.UNBUILDABLE, message="messages[0]: has no form")
    unserved = Unserved(fault, (), None, (), 0, None, False, WalkEnd.EXHAUSTED)
    assert parts.message_of(unserved).failed.unbuildable_reason == "messages[0]: has no form"
    lost = replace(unserved, fault=replace(fault, failure_class=FailureClass.TRANSPORT))
    assert parts.message_of(lost).failed.unbuildable_reason == ""


def test_a_time_in_the_past_is_no_wait() -> None:
    assert common.duration(-0.5) == common.duration(0.0) == {"seconds": 0, "nanos": 0}
    assert common.duration(None) is None


@pytest.mark.parametrize("kind", CredentialKind)
@pytest.mark.parametrize("owner", CredentialOwner)
def test_whose_credential_it_is_and_of_what_kind_comes_through(
    kind: CredentialKind, owner: CredentialOwner
) -> None:
    whose = attribution_of("key", kind, owner)
    fields = common.attribution_fields(whose)
    assert fields is not None
    message = grant_pb2.CredentialAttribution(**fields)  # type: ignore[arg-type]  # fields by name
    assert common.attribution(message) == whose


@pytest.mark.parametrize(
    ("event", "phase", "is_droppable"),
    [
        (HeadersSeen(200, (("date", "d"),), 5.5), "headers", True),
        (HeadersSeen(429, (), 5.5), "headers", False),
        (StillAlive(5.5), "alive", True),
        (Ended(EndKind.FAILED, 5.5, 401, b"no sk-abcdefghijklmnop"), "ended", False),
    ],
)
def test_reports_become_messages(
    event: HeadersSeen | StillAlive | Ended, phase: str, is_droppable: bool
) -> None:
    grant = Grant("g", BindingRef("m", "p"), attribution_of("x"), credential_id="c")
    report = Report(grant, "a", 1, 3, 4.5, event)
    (message,) = peers.report_request([report]).reports
    assert message.WhichOneof("phase") == phase
    assert (message.grant_id, message.credential_id, message.sequence_number) == ("g", "c", 3)
    assert message.send_time.nanos == 500_000_000
    assert b"sk-abc" not in message.SerializeToString()
    assert report.is_droppable is is_droppable
