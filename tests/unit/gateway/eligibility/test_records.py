from __future__ import annotations

from dataclasses import replace
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from gateway.eligibility import freeze
from gateway.eligibility.records import MOST_KEPT, Records
from gateway.model import PresentedIdentity
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.features import Requirement
from tests.unit.gateway.facts import catalog, features, policy, question, row

CATALOG = catalog(
    row("a", "p1", window=100),
    row("b", "p1", "p2", window=200, image_input=False),
    row("c", "p2", window=300, tier="mid", extended_context=True),
)

questions = st.builds(
    lambda keyed, tokens, is_image, forced, is_long, brought, is_known, is_spent: question(
        *keyed,
        features=features(tokens, (Requirement.IMAGES,) if is_image else ()),
        forced_model=forced,
        is_long_context_asked=is_long,
        presented=(PresentedIdentity("a" * 32, CredentialKind.API_KEY, "p2"),) if is_known else (),
        is_credential_brought=brought,
        suppressed_plans=(CredentialKind.CODEX_OAUTH,) if is_spent else (),
    ),
    st.just(("p1", "p2")),
    st.sampled_from([0, 99, 100, 101, 200, 201, 300, 301, 1_000_001]),
    st.booleans(),
    st.sampled_from(["", "a"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
LIMITS = policy(closed_to_presented=frozenset({"p1"}))


@given(st.lists(questions, min_size=1, max_size=12))
def test_a_reused_record_equals_a_fresh_one(asked: list[object]) -> None:
    records = Records(LIMITS, CATALOG)
    for each in asked:
        assert records.freeze(each) == freeze(each, LIMITS, CATALOG)  # type: ignore[arg-type]  # built above


def test_a_record_is_reused_only_for_prompts_that_fit_the_same_windows() -> None:
    sizes = [0, 50, 51, 75, 76, 100, 101, 150, 200, 201, 225, 300, 301, 341, 992_001, 1_000_001]
    limits = policy(families={"p1": WireFamily.ANTHROPIC, "p2": WireFamily.OPENAI_CHAT})
    records = Records(limits, CATALOG)
    for size, wanted, signed, is_long in product(sizes, [0, 10**6], [0, 40], [False, True]):
        sized = replace(features(size), max_output_tokens=wanted, signature_tokens=signed)
        asked = question("p1", "p2", features=sized, is_long_context_asked=is_long)
        assert records.freeze(asked) == freeze(asked, limits, CATALOG)
    assert len(records._kept) < MOST_KEPT / 2


def test_what_is_kept_is_bounded() -> None:
    records = Records(policy(), CATALOG)
    for number in range(MOST_KEPT + 10):
        records.freeze(question("p1", forced_model=f"m{number}"))
    assert len(records._kept) == MOST_KEPT
