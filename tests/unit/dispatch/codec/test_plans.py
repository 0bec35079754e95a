from __future__ import annotations

import pytest
from pointsman.common.v1 import attempt_pb2, grant_pb2
from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.dispatch.codec.plans import MAX_RESTORED, plan_of
from services.dispatch.model.plan import Budget, Conduct
from services.domain.errors import InvalidRequestError
from services.domain.vocab import WireFamily
from services.domain.wire.model import ProviderState
from services.domain.wire.state.kept import Place, Restored
from services.domain.wire.state.sealing import Sealed, seal

STATE = ProviderState(WireFamily.GEMINI, "signature", "payload", "m", "i")


def plan(*states: pb.RestoredState) -> pb.AttemptPlan:
    """Return a plan of one binding with these states."""
    message = pb.AttemptPlan(first_attempt_number=1, restored_states=states)
    message.bindings.add().binding.model_id = "m"
    message.bindings[0].binding.provider = "p"
    return message


@pytest.mark.spec("XLT-181")
def test_states_come_with_their_places() -> None:
    sealed = seal(Sealed(STATE, "digest"))
    told = [
        pb.RestoredState(
            place=pb.StatePlace.Name(pb.StatePlace.Value(f"STATE_PLACE_{p.name}")),
            key="k",
            sealed_state=sealed,
        )
        for p in Place
    ]
    found = plan_of(plan(*told), Budget()).restored
    assert found == tuple(Restored(place, "k", STATE, "digest") for place in Place)


@pytest.mark.spec("XLT-181")
def test_what_cannot_be_read_is_left_out_and_too_many_are_refused() -> None:
    damaged = pb.RestoredState(place=pb.STATE_PLACE_CALL, key="k", sealed_state="x")
    nowhere = pb.RestoredState(key="k", sealed_state=seal(Sealed(STATE)))
    assert plan_of(plan(damaged, nowhere), Budget()).restored == ()
    with pytest.raises(InvalidRequestError) as caught:
        plan_of(plan(*[damaged] * (MAX_RESTORED + 1)), Budget())
    assert caught.value.violations[0].field == "plan.restored_states"


@pytest.mark.parametrize(("seconds", "nanos"), [(2**63 - 1, 0), (-(2**63), 0), (1, -1)])
def test_a_cooldown_that_ends_at_no_time_there_is_is_read(seconds: int, nanos: int) -> None:
    message = plan()
    rescue = message.rescues.add(
        cause=attempt_pb2.ATTEMPT_CAUSE_SIBLING, health=pb.RESCUE_HEALTH_COOLING
    )
    rescue.bindings.add().CopyFrom(message.bindings[0])
    rescue.cooldown_end_time.seconds, rescue.cooldown_end_time.nanos = seconds, nanos
    (found,) = plan_of(message, Budget()).rescues
    assert found.is_cooling


@pytest.mark.spec("XLT-78")
def test_the_account_that_keeps_the_state_comes_with_the_plan_and_its_grant_is_of_it() -> None:
    message = plan()
    assert plan_of(message, Budget()).required_credential_id == ""
    message.required_credential_id = "c1"
    assert plan_of(message, Budget()).required_credential_id == "c1"
    message.grant.grant_id = "g1"
    message.grant.binding.CopyFrom(message.bindings[0].binding)
    message.grant.attribution.kind = grant_pb2.CREDENTIAL_KIND_API_KEY
    message.grant.attribution.owner = grant_pb2.CREDENTIAL_OWNER_OPERATOR
    message.grant.attribution.bucket = grant_pb2.CREDENTIAL_BUCKET_CLEAN
    message.grant.credential_id = "c1"
    assert plan_of(message, Budget()).grant is not None
    message.grant.credential_id = "c2"
    with pytest.raises(InvalidRequestError) as caught:
        plan_of(message, Budget())
    assert caught.value.violations[0].field == "plan.grant.credential_id"


@pytest.mark.spec("DSP-251", "DSP-252")
def test_what_is_held_against_models_comes_with_the_plan() -> None:
    message = plan()
    assert plan_of(message, Budget()).conduct == Conduct()
    message.flags.is_throttle_wait_enabled = True
    message.flags.is_transient_cooling_enabled = True
    message.flags.is_overload_struck = True
    assert plan_of(message, Budget()).conduct == Conduct(
        is_throttle_cooling=True, is_transient_cooling=True, is_overload_struck=True
    )
