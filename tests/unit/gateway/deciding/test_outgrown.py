from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.deciding.kinds import Rules
from gateway.deciding.outgrown import Compacting, largest_window, limits_of, writers_of
from gateway.deciding.pinned import Moment
from gateway.model import Action
from services.domain.catalog import Binding, build_catalog
from services.domain.vocab import TurnType, WireFamily
from tests.unit.gateway.deciding.made import action, record, row
from tests.unit.gateway.sessions.made import NOW, choice

SPOKEN = {
    "anthropic": WireFamily.ANTHROPIC,
    "azure": WireFamily.ANTHROPIC,
    "openai": WireFamily.OPENAI_CHAT,
}


def _of(name: str, tier: str, provider: str, window: int, **facts: object) -> dict[str, object]:
    return {**row(name, tier, 1.0, provider), "context_window": window, **facts}


CATALOG = build_catalog(
    [
        {
            "models": [
                _of("gpt-6", "top", "openai", 400_000),
                _of(
                    "claude-sonnet-5",
                    "high",
                    "anthropic",
                    200_000,
                    family="s",
                    version="5",
                    automatic=False,
                ),
                _of("claude-sonnet-5-1", "high", "anthropic", 200_000, family="s", version="5.1"),
                _of("claude-opus-5", "top", "anthropic", 300_000, family="o", version="5"),
                _of("claude-haiku", "low", "anthropic", 200_000, family="h", version="1"),
                _of("hidden", "top", "anthropic", 900_000, automatic=False),
                {
                    **_of("twice", "top", "anthropic", 0),
                    "context_window": 500_000,
                    "bindings": [
                        {
                            "provider": name,
                            "context_window": window,
                            "input_usd_per_mtok": 1.0,
                            "output_usd_per_mtok": 1.0,
                        }
                        for name, window in (("anthropic", 500_000), ("azure", 100_000))
                    ],
                },
            ]
        }
    ]
)
RULES = Rules(compaction_model="claude-sonnet-5")
ASKED = action(
    b'{"model":"claude-sonnet-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
)


def dialects_at(row: Binding) -> tuple[WireFamily, ...]:
    return (SPOKEN[row.provider],)


def by(*providers: str, rules: Rules = RULES, **limits: object) -> Compacting:
    found = record(*providers, catalog=CATALOG, **limits)
    return Compacting(Moment(CATALOG, found, "cluster", NOW), rules, dialects_at)


ALL = by("anthropic", "azure", "openai")


def sized(tokens: int, max_output_tokens: int = 9, signature_tokens: int = 0) -> Action:
    features = replace(
        ASKED.features,
        overflow_tokens=tokens,
        max_output_tokens=max_output_tokens,
        signature_tokens=signature_tokens,
    )
    return replace(ASKED, features=features)


@pytest.mark.spec("HND-42")
def test_the_largest_window_is_that_of_a_model_by_its_smallest_binding() -> None:
    assert largest_window(ASKED, by("anthropic")) == 500_000
    assert largest_window(ASKED, ALL) == 400_000, "the other binding counts where it may serve"
    assert largest_window(ASKED, by("openai")) == 400_000
    without = by("anthropic", "openai", excluded_models=frozenset({"gpt-6", "twice"}))
    assert largest_window(ASKED, without) == 300_000
    assert largest_window(ASKED, by("nowhere")) == 0


@pytest.mark.spec("HND-42")
def test_room_of_signed_reasoning_counts_where_it_is_not_sent() -> None:
    signed = sized(1, signature_tokens=150_000)
    assert largest_window(signed, ALL) == 550_000
    assert largest_window(signed, by("anthropic")) == 500_000


def test_the_long_window_is_that_of_models_that_have_it() -> None:
    asked = replace(ASKED, caller=replace(ASKED.caller, wants_long_context=True))
    assert largest_window(asked, ALL) == 400_000
    able = build_catalog(
        [{"models": [_of("able", "top", "anthropic", 200_000, extended_context=True)]}]
    )
    there = Moment(able, record("anthropic", catalog=able), "cluster", NOW)
    assert largest_window(asked, Compacting(there, RULES, dialects_at)) == 1_000_000
    assert largest_window(ASKED, Compacting(there, RULES, dialects_at)) == 200_000


def test_a_forced_model_brings_its_own_window() -> None:
    forced = replace(ASKED, caller=replace(ASKED.caller, forced_model="hidden"))
    assert largest_window(forced, ALL) == 900_000


@pytest.mark.spec("HND-41", "HND-43")
def test_the_trigger_is_a_share_of_the_window_with_room_for_the_answer() -> None:
    trigger = int(400_000 * 0.85)
    assert limits_of(sized(trigger - 8_000), ALL) is not None
    assert limits_of(sized(trigger - 8_001), ALL) is None
    assert limits_of(sized(trigger - 50_000, max_output_tokens=50_000), ALL) is not None
    assert limits_of(sized(trigger - 50_001, max_output_tokens=50_000), ALL) is None
    off = by("openai", rules=replace(RULES, compaction_ratio=0.0))
    assert limits_of(sized(10**9), off) is None
    assert limits_of(sized(10**9), by("nowhere")) is None


def test_small_windows_are_not_filled_by_the_room_for_the_answer() -> None:
    rows = [_of("own", "mid", "openai", 8_000)]
    small = build_catalog([{"models": rows}])
    own = Compacting(
        Moment(small, record("openai", catalog=small), "cluster", NOW), RULES, dialects_at
    )
    assert limits_of(sized(4_000, max_output_tokens=100), own) is None
    found = limits_of(sized(4_000, max_output_tokens=100_000), own)
    assert found is not None
    assert found.reserve_tokens == 4_000


@pytest.mark.spec("HND-44", "HND-110")
@pytest.mark.parametrize("turn_type", TurnType)
def test_only_conversations_are_compacted(turn_type: TurnType) -> None:
    huge = replace(sized(10**9), turn_type=turn_type)
    is_spared = turn_type in (
        TurnType.PROBE,
        TurnType.TITLE_GEN,
        TurnType.COMPACTION,
        TurnType.CLASSIFIER,
    )
    assert (limits_of(huge, ALL) is None) is is_spared


def test_limits_shrink_by_what_estimates_are_too_small() -> None:
    exact = limits_of(sized(400_000), ALL)
    twice = limits_of(replace(sized(400_000), fit_ratio=2.0), ALL)
    assert exact is not None
    assert twice is not None
    assert (exact.window_tokens, exact.reserve_tokens) == (400_000, 8_000)
    assert (twice.window_tokens, twice.reserve_tokens) == (200_000, 4_000)


@pytest.mark.spec("HND-90", "HND-91", "HND-93")
def test_the_sessions_model_writes_first_then_the_chosen_one_then_that_with_a_large_window() -> (
    None
):
    def names(pinned: str = "", found: Compacting = ALL) -> list[str]:
        pin = choice(pinned, "anthropic") if pinned else None
        return [binding.model_id for binding in writers_of(ASKED, pin, found)]

    assert names() == ["claude-sonnet-5-1", "claude-opus-5"]
    assert names("claude-opus-5") == ["claude-opus-5", "claude-sonnet-5-1"]
    assert names("claude-sonnet-5") == ["claude-sonnet-5-1", "claude-opus-5"]
    assert names("gpt-6") == ["claude-sonnet-5-1", "claude-opus-5"]
    assert names("claude-haiku") == ["claude-sonnet-5-1", "claude-opus-5"]
    outside = by("anthropic", excluded_models=frozenset({"claude-sonnet-5-1", "claude-opus-5"}))
    assert not CATALOG.models["claude-sonnet-5"].is_automatic
    assert names(found=outside) == ["claude-sonnet-5"], "it need not be a candidate of routing"
    assert names(found=by("openai")) == []
    assert names(found=by("anthropic", rules=Rules())) == ["claude-opus-5"]
