"""What credentials do not say themselves is said by their lane, and limits are shared fairly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.build.declaring import lane_priorities
from services.credentials.model import CoolingPolicy, CredentialSpec, Slot
from services.credentials.policy.defaults import Defaults
from services.domain.vocab import CredentialKind
from services.runtime.config import SettingError
from services.runtime.providers import providers_of
from services.runtime.settings import CommonSettings

KEY = CredentialSpec("anthropic", CredentialKind.API_KEY)
ACCOUNT = CredentialSpec("anthropic", CredentialKind.CLAUDE_OAUTH)


@pytest.mark.spec("CRD-11")
def test_a_lane_of_a_kind_wins_over_its_provider() -> None:
    found = Defaults(priorities={"anthropic": 5, "anthropic/claude_oauth": 9})
    assert (found.priority(KEY), found.priority(ACCOUNT)) == (5, 9)
    assert Defaults().priority(ACCOUNT) == 0


@pytest.mark.spec("CRD-76")
@pytest.mark.parametrize("is_cooling", [True, False])
def test_cooling_is_inherited_unless_it_is_said(*, is_cooling: bool) -> None:
    found = Defaults(is_cooling=is_cooling)
    said = [found.cools(CredentialSpec("p", KEY.kind, cooling=one)) for one in CoolingPolicy]
    assert dict(zip(CoolingPolicy, said, strict=True)) == {
        CoolingPolicy.INHERIT: is_cooling,
        CoolingPolicy.ON: True,
        CoolingPolicy.OFF: False,
    }


@pytest.mark.spec("CRD-11")
@pytest.mark.parametrize("lane", ["antropic", "anthropic/", "anthropic/oauth", "claude_oauth"])
def test_a_lane_that_does_not_exist_is_named(lane: str) -> None:
    providers = providers_of(CommonSettings())
    with pytest.raises(SettingError, match="default_priorities") as refused:
        lane_priorities({lane: 1}, providers)
    assert lane in str(refused.value)
    assert lane_priorities({"anthropic/claude_oauth": 1}, providers)


@pytest.mark.spec("CRD-124")
@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9))
def test_shares_of_a_limit_never_exceed_it_but_by_the_one_that_each_replica_has(
    limit: int, model_limit: int, count: int
) -> None:
    share = Slot("g", "c", "m", limit, model_limit).shared_by(count)
    for whole, part in ((limit, share.limit), (model_limit, share.model_limit)):
        assert bool(part) is bool(whole)
        assert part * count <= max(whole, count)
    assert Slot("g", "c", "m", limit, model_limit).shared_by(1) == Slot(
        "g", "c", "m", limit, model_limit
    )
