"""The stored list of models that are not to be picked: asked each minute, kept while unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from gateway.exclusions import REFRESH_S, Exclusions, Resting
from gateway.office.exclusions import ExclusionDesk
from gateway.office.model import Order
from gateway.policy import policy_of
from gateway.settings import AutomaticExclusion, RoutingSettings
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime.reloading import Edition
from services.runtime.settings import CommonSettings
from tests.fakes.clock import FakeClock
from tests.unit.gateway.deciding.made import CATALOG

LARGE, MIDDLE = ("large", "slow today"), ("middle", "")


@dataclass
class Store:
    """Keeps a list, but for as long as it is away."""

    rows: Sequence[tuple[str, str]] = ()
    is_away: bool = False

    def _check(self) -> None:
        if self.is_away:
            raise RouterError(Reason.STORE_UNAVAILABLE, "away")

    async def automatic_exclusions(self) -> Sequence[tuple[str, str]]:
        """Return the list."""
        self._check()
        return self.rows

    async def put_automatic_exclusions(self, rows: Sequence[tuple[str, str]]) -> None:
        """Keep another."""
        self._check()
        self.rows = tuple(rows)


@dataclass
class Rig:
    """A list, and what was made of it."""

    stated: dict[str, object] = field(default_factory=dict)
    store: Store = field(default_factory=Store)
    clock: FakeClock = field(default_factory=FakeClock)
    changes: int = 0

    def __post_init__(self) -> None:
        routing = RoutingSettings.model_validate(self.stated)
        common = CommonSettings()
        policy = policy_of(routing, common, CATALOG)
        resting = Resting(Edition(common, CATALOG), routing, policy)
        self.exclusions = Exclusions(self.store, self.clock, resting)
        self.exclusions.on_change = self.changed
        self.desk = ExclusionDesk(self.exclusions)

    def changed(self, edition: Edition[CommonSettings], routing: RoutingSettings) -> None:
        """Count a change."""
        self.changes += 1

    @property
    def models(self) -> list[str]:
        """The models of the list that counts."""
        return [each.model for each in self.exclusions.effective]


@pytest.mark.spec("POL-14")
async def test_the_last_list_stays_while_the_store_is_away() -> None:
    rig = Rig(store=Store(is_away=True))
    with capture_logs() as lines:
        await rig.exclusions.refresh()
        await rig.exclusions.refresh()
    assert [line["event"] for line in lines] == ["automatic_exclusions_unknown"]
    assert (rig.models, rig.changes) == ([], 0)
    rig.store.is_away, rig.store.rows = False, (LARGE, MIDDLE)
    await rig.exclusions.refresh()
    rig.store.is_away = True
    await rig.exclusions.refresh()
    assert (rig.models, rig.changes) == (["large", "middle"], 1)


@pytest.mark.spec("POL-14", "OPS-101")
async def test_what_another_gateway_stores_counts_within_a_minute() -> None:
    rig = Rig()
    rig.exclusions.start()
    await rig.clock.pass_time(REFRESH_S - 1)
    rig.store.rows = (LARGE,)
    assert rig.models == []
    await rig.clock.pass_time(1)
    assert rig.models == ["large"]
    await rig.clock.pass_time(REFRESH_S)
    assert rig.changes == 1
    await rig.exclusions.aclose()


async def test_a_list_replaces_the_last_one_and_says_each_model_once() -> None:
    rig = Rig(store=Store((MIDDLE,)))
    await rig.exclusions.refresh()
    twice = [{"model": "large", "reason": "slow today"}, {"model": "large", "reason": "again"}]
    told = await rig.desk.put(Order(body={"excluded": twice}))
    assert told["excluded"] == [{"model": "large", "reason": "slow today"}]
    assert (told["is_pinned"], told["available"]) == (False, ["large", "middle", "small"])
    assert (rig.store.rows, rig.changes) == ((LARGE,), 2)
    assert await rig.desk.shown(Order()) == told
    assert (await rig.desk.put(Order(body={"excluded": []})))["excluded"] == []
    rig.store.is_away = True
    with pytest.raises(RouterError):
        await rig.desk.put(Order(body={"excluded": twice}))
    assert rig.models == []


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ({}, "excluded: must be set"),
        ({"excluded": [{"model": "midle"}]}, "excluded.0.model: no model 'midle'; did you mean"),
        ({"excluded": [{"modle": "large"}]}, "excluded.0.model: must be set"),
        ({"excluded": ["large"]}, "excluded.0: must be a table"),
    ],
)
async def test_what_cannot_be_listed_changes_nothing_and_is_named(
    body: dict[str, object], complaint: str
) -> None:
    rig = Rig(store=Store((LARGE,)))
    with pytest.raises(InvalidRequestError) as refused:
        await rig.desk.put(Order(body=body))
    assert complaint in refused.value.message
    assert rig.store.rows == (LARGE,)


@pytest.mark.spec("OPS-94")
async def test_the_configurations_list_counts_and_cannot_be_changed_here() -> None:
    rig = Rig({"automatic_exclusions": [{"model": "small"}]}, Store((LARGE,)))
    await rig.exclusions.refresh()
    assert rig.exclusions.effective == (AutomaticExclusion(model="small"),)
    with pytest.raises(RouterError, match="change it there") as refused:
        await rig.desk.put(Order(body={"excluded": []}))
    assert refused.value.trait.http_status == 403
    assert rig.store.rows == (LARGE,)
