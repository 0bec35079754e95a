"""A pick obeys the fixed order of rules, starves nobody, and is fair."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import (
    BindingRef,
    Bucket,
    Credential,
    Eligibility,
    InFlight,
    Mark,
    MarkKind,
    Purpose,
    Strategy,
    SuppressedPlan,
    SystemState,
    Verdict,
)
from services.credentials.policy.selection import verdicts
from services.domain.vocab import CredentialKind, CredentialOwner
from tests.unit.credentials.cases import MODEL, NOW, TENANT, Turns, credential, query

WARNED = Mark(MarkKind.WARNING, NOW, NOW + 9, window="5h")
OVERAGE = Mark(MarkKind.OVERAGE, NOW, NOW + 9)
COOLING = Mark(MarkKind.QUOTA, NOW, NOW + 9, model_id="m")
REFUSED = Mark(MarkKind.AUTH, NOW, NOW + 5)

mark_sets = st.lists(st.sampled_from([WARNED, OVERAGE, COOLING, REFUSED]), unique=True).map(tuple)
pools = st.lists(
    st.tuples(mark_sets, st.integers(-2, 2), st.booleans()), min_size=1, max_size=6
).map(
    lambda rows: [
        credential(f"c{index}", marks=marks, priority=priority, is_enabled=enabled)
        for index, (marks, priority, enabled) in enumerate(rows)
    ]
)


@pytest.mark.spec("CRD-93", "CRD-8")
@given(pools, st.sampled_from([Strategy.ROUND_ROBIN, Strategy.FILL_FIRST, Strategy.WEIGHTED]))
def test_somebody_is_picked_whenever_anybody_may_serve(
    pool: list[Credential], strategy: Strategy
) -> None:
    may_serve = {c.id for c in pool if c.is_usable and not c.blocking_marks(MODEL, NOW)}
    picked = Turns(*pool, strategy=strategy).picked()
    assert bool(picked) == bool(may_serve)
    assert not picked or picked in may_serve


@pytest.mark.spec("CRD-90", "CRD-91", "CRD-92", "CRD-95")
@given(pools)
def test_the_best_bucket_comes_first_and_then_the_highest_priority(pool: list[Credential]) -> None:
    found = Turns(*pool).decide()
    if found.pick is None:
        return
    free = [c for c in pool if c.is_usable and not c.blocking_marks(MODEL, NOW)]
    buckets = {
        c.id: Bucket.OVERAGE
        if OVERAGE in c.marks
        else Bucket.WARNED
        if WARNED in c.marks
        else Bucket.CLEAN
        for c in free
    }
    assert found.pick.bucket is min(buckets.values())
    best = [c for c in free if buckets[c.id] is found.pick.bucket]
    assert found.pick.priority == max(c.priority for c in best)
    assert found.pick.credential.priority == found.pick.priority


@pytest.mark.spec("CRD-163")
@given(pools)
def test_every_candidate_has_one_verdict_and_one_is_picked(pool: list[Credential]) -> None:
    found = Turns(*pool).decide()
    judged = verdicts(found)
    assert sorted(one.credential.id for one in judged) == sorted(c.id for c in pool)
    picked = [one for one in judged if one.verdict is Verdict.PICKED]
    assert len(picked) == (0 if found.pick is None else 1)


@pytest.mark.spec("CRD-96")
@given(st.integers(1, 7), st.integers(1, 5), st.integers(0, 20))
def test_round_robin_gives_each_exactly_its_turns(count: int, rounds: int, skip: int) -> None:
    turns = Turns(*(credential(f"c{n}") for n in range(count)))
    for _ in range(skip):
        turns.picked()
    picks = Counter(turns.picked() for _ in range(rounds * count))
    assert picks == {f"c{n}": rounds for n in range(count)}


@pytest.mark.spec("CRD-96")
@given(st.integers(2, 6), st.integers(0, 12), st.data())
def test_a_change_of_membership_moves_counts_by_at_most_one(
    count: int, before: int, data: st.DataObject
) -> None:
    everybody = [credential(f"c{n}") for n in range(count)]
    turns = Turns(*everybody)
    for _ in range(before):
        turns.picked()
    gone = data.draw(st.integers(0, count - 1))
    left = [c for n, c in enumerate(everybody) if n != gone]
    turns.pool = Turns(*left).pool
    picks = Counter(turns.picked() for _ in range(3 * len(left)))
    assert set(picks) == {c.id for c in left}
    assert max(picks.values()) - min(picks.values()) <= 1


@pytest.mark.spec("CRD-99")
@given(st.lists(st.integers(0, 5), min_size=1, max_size=5).filter(any))
def test_weights_are_kept_over_every_run_of_their_sum(weights: list[int]) -> None:
    turns = Turns(
        *(credential(f"c{n}", weight=weight) for n, weight in enumerate(weights)),
        strategy=Strategy.WEIGHTED,
    )
    total = sum(weights)
    picks = [turns.picked() for _ in range(3 * total)]
    for start in range(2 * total):
        counted = Counter(picks[start : start + total])
        for n, weight in enumerate(weights):
            assert abs(counted[f"c{n}"] - weight) <= 1
            assert weight or not counted[f"c{n}"]


@pytest.mark.spec("CRD-98")
def test_fill_first_leaves_the_first_only_when_it_must() -> None:
    first, second = credential("b", order=1), credential("a", order=2)
    turns = Turns(first, second, strategy=Strategy.FILL_FIRST)
    assert [turns.picked() for _ in range(3)] == ["b"] * 3
    blocked = Turns(
        credential("b", order=1, marks=(COOLING,)), second, strategy=Strategy.FILL_FIRST
    )
    assert blocked.picked() == "a"


@pytest.mark.spec("CRD-97")
def test_models_and_tenants_turn_apart() -> None:
    turns = Turns(credential("a"), credential("b"))
    other = query(BindingRef("m2", "p"))
    assert [turns.picked(), turns.picked(other), turns.picked()] == ["a", "a", "b"]


@pytest.mark.spec("CRD-100")
def test_a_session_keeps_its_credential_while_that_is_in_the_best_bucket() -> None:
    low, high = credential("low", priority=0), credential("high", priority=9)
    assert Turns(low, high).picked(bound="low") == "low"
    warned = credential("low", marks=(WARNED,))
    assert Turns(warned, high).picked(bound="low") == "high"
    assert Turns(warned).picked(bound="low") == "low"


@pytest.mark.spec("CRD-94")
def test_a_free_warned_one_is_used_when_the_clean_ones_are_full() -> None:
    turns = Turns(credential("clean", max_in_flight=1), credential("warned", marks=(WARNED,)))
    found = turns.decide(in_flight=InFlight({"clean": 1}, {}))
    assert found.pick is not None
    assert found.pick.credential.id == "warned"


@pytest.mark.spec("CRD-160")
def test_limits_hold_per_credential_and_per_model() -> None:
    turns = Turns(credential("a", max_in_flight_per_model=2))
    assert turns.decide(in_flight=InFlight({}, {("a", "m"): 1})).pick is not None
    assert turns.decide(in_flight=InFlight({}, {("a", "m"): 2})).pick is None
    assert turns.decide(in_flight=InFlight({}, {("a", "m2"): 2})).pick is not None
    counting = query(purpose=Purpose.COUNT_TOKENS)
    assert turns.decide(counting, in_flight=InFlight({}, {("a", "m"): 2})).pick is not None


@pytest.mark.spec("CRD-13")
def test_variants_of_a_model_share_marks() -> None:
    turns = Turns(credential("a", marks=(COOLING,)))
    assert turns.picked(query(BindingRef("m(high)", "p"))) == ""
    assert turns.picked(query(BindingRef("m2", "p"))) == "a"


@pytest.mark.spec("CRD-107")
def test_what_was_tried_is_not_offered_again() -> None:
    turns = Turns(credential("a"), credential("b"))
    assert turns.picked(query(tried=frozenset({"a"}))) == "b"
    assert turns.picked(query(tried=frozenset({"a", "b"}))) == ""


def test_a_mark_counts_until_its_very_instant() -> None:
    turns = Turns(credential("a", marks=(COOLING,)))
    assert turns.picked(now=NOW + 8.999) == ""
    assert turns.picked(now=NOW + 9) == "a"


def test_plans_serve_clients_only_and_not_when_suppressed() -> None:
    plan = credential("plan", kind=CredentialKind.CLAUDE_OAUTH)
    turns = Turns(plan, credential("key"))
    assert turns.picked(query(purpose=Purpose.AUXILIARY)) == "key"
    only = Eligibility(is_subscription_only=True)
    assert {turns.picked(query(eligibility=only)) for _ in range(3)} == {"plan"}
    off = frozenset({SuppressedPlan(CredentialKind.CLAUDE_OAUTH, CredentialOwner.OPERATOR)})
    assert {turns.picked(query(suppressed=off)) for _ in range(3)} == {"key"}


def test_where_only_a_subscription_may_pay_keys_alone_serve_nobody() -> None:
    only = Eligibility(is_subscription_only=True)
    assert Turns(credential("key")).picked(query(eligibility=only)) == ""


def test_a_weight_of_nothing_serves_nobody_also_where_no_other_weighs_more() -> None:
    assert Turns(credential("key", weight=0), strategy=Strategy.WEIGHTED).picked() == ""


def test_a_tenant_is_served_by_its_own_keys_and_never_by_anothers() -> None:
    shared = credential("shared")
    own = credential("own", installation_id=TENANT)
    other = credential("other", installation_id="t2")
    assert {Turns(shared, own, other).picked() for _ in range(3)} == {"own"}
    assert Turns(shared, other).picked() == "shared"
    assert Turns(other).picked() == ""


@pytest.mark.spec("CRD-15", "CRD-16")
def test_a_tenant_with_a_gateway_key_is_served_by_its_aliases_alone() -> None:
    gateway = credential(
        "gw",
        installation_id=TENANT,
        kind=CredentialKind.GATEWAY,
        upstream_id_by_model=(("m", "their-m"),),
    )
    turns = Turns(gateway, credential("vendor"))
    assert turns.picked() == "gw"
    unaliased = turns.decide(query(BindingRef("m2", "p")))
    assert unaliased.pick is None
    assert unaliased.is_gateway_exclusive


def test_one_without_a_secret_serves_only_alone() -> None:
    bare = credential("bare", kind=CredentialKind.NONE)
    assert Turns(bare).picked() == "bare"
    assert {Turns(bare, credential("key")).picked() for _ in range(3)} == {"key"}
    assert Turns(bare).picked(query(tried=frozenset({""}))) == ""


@pytest.mark.parametrize("state", [s for s in SystemState if s is not SystemState.OK])
@pytest.mark.spec("CRD-8")
def test_only_a_credential_in_order_is_a_candidate(state: SystemState) -> None:
    assert Turns(replace(credential("a"), system_state=state)).picked() == ""


def test_the_state_of_a_conversation_binds_it_to_its_account() -> None:
    turns = Turns(credential("a"), credential("b"))
    needs_b = query(required_credential_id="b")
    assert {turns.picked(needs_b) for _ in range(3)} == {"b"}
