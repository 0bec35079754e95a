"""Headers about quota are read whatever their spelling, and doubtful ones have no effect."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.credentials.model import CALENDAR_END_UNIX_S
from services.credentials.policy.evidence.headers import (
    LONGEST_WINDOW_S,
    Status,
    codex,
    unified,
    wait_until,
)
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, credential
from tests.unit.credentials.policy.evidence.steps import UNIFIED, Story, at, claude

WARNING = (UNIFIED + "7d_oi-status", "allowed_warning")


@pytest.mark.spec("CRD-23")
@given(st.lists(st.booleans(), min_size=len(WARNING[0]), max_size=len(WARNING[0])))
def test_the_case_of_a_name_does_not_matter(upper: list[bool]) -> None:
    name = "".join(c.upper() if up else c for c, up in zip(WARNING[0], upper, strict=True))
    found = unified([(f" {name}", " Allowed_Warning ")], NOW)
    assert found.status("7d_oi") is Status.ALLOWED_WARNING


@pytest.mark.spec("CRD-24", "CRD-25")
def test_unknown_and_disagreeing_statuses_have_no_effect() -> None:
    name = UNIFIED + "5h-status"
    found = unified([(name, "allowed_warning_x" + "y" * 99)], NOW)
    assert found.status("5h") is None
    assert [(d.kind, d.header, len(d.value)) for d in found.doubts] == [
        ("unknown_status", name, 32)
    ]
    twice = unified([(name, "allowed"), (name.upper(), "rejected")], NOW)
    assert twice.status("5h") is None
    assert [d.kind for d in twice.doubts] == ["disagreeing_status"]
    same = unified([(name, "allowed"), (name, "ALLOWED")], NOW)
    assert same.status("5h") is Status.ALLOWED
    shown = unified([(name, "al\x00\nlowed")], NOW).doubts[0].value
    assert shown == "al??lowed"


@pytest.mark.spec("CRD-27")
def test_resets_are_read_by_the_clock_that_wrote_them() -> None:
    pairs = [
        ("date", "Sun, 15 Jun 2025 15:16:40 GMT"),
        WARNING,
        (UNIFIED + "7d_oi-reset", str(int(NOW) + 600 + 60)),
    ]
    found = unified(pairs, NOW)
    window = found.window("7d_oi")
    assert window is not None
    assert (window.reset_unix_s, found.offset_s) == (NOW + 60, -600)
    assert [d.kind for d in found.doubts] == ["clock_offset"]
    near = unified([("date", "Sun, 15 Jun 2025 15:06:50 GMT"), WARNING], NOW)
    assert (near.offset_s, near.doubts) == (0.0, ())


@pytest.mark.spec("CRD-28", "CRD-29")
@pytest.mark.parametrize(
    ("spec", "is_read"),
    [
        ({"provider": "p"}, True),
        ({"provider": "q"}, False),
        ({"provider": "p", "kind": "gateway"}, False),
        ({"provider": "p", "kind": "gateway", "is_quota_header_trusted": True}, True),
        ({"provider": "p", "kind": "codex_oauth"}, False),
    ],
)
def test_headers_count_on_their_own_lane_only(spec: dict[str, object], is_read: bool) -> None:
    kind = CredentialKind(str(spec.get("kind", "api_key")))
    made = credential()
    settings = replace(made.spec, **{**spec, "kind": kind})  # type: ignore[arg-type]  # a table's column
    story = Story(replace(made, spec=settings))
    story.hear(0, (WARNING, ("x-codex-primary-used-percent", "99")))
    assert story.warned(0) == ({"7d_oi"} if is_read else set())


def test_a_claim_that_is_not_known_is_counted_and_has_no_effect() -> None:
    story = Story(claude())
    claims = UNIFIED + "representative-claim"
    story.see(at(0, headers=((claims, "brand_new_value"), (UNIFIED + "status", "allowed"))))
    assert story.credential == claude()
    assert [(d.kind, d.value) for d in story.doubts] == [("unknown_claim", "brand_new_value")]


def test_codex_windows_have_lengths_and_resets_of_their_own() -> None:
    found = codex(
        [
            ("x-codex-primary-used-percent", "1"),
            ("x-codex-primary-reset-after-seconds", "90"),
            ("X-Codex-Secondary-Used-Percent", "42.5"),
            ("x-codex-secondary-window-minutes", "60"),
            ("x-codex-secondary-reset-at", str(int(NOW) + 5)),
        ],
        NOW,
        warn_percent=0,
    )
    shown = [(w.length_s, w.utilization_ratio, w.reset_unix_s, w.status) for w in found.windows]
    assert shown == [(18_000.0, 0.01, NOW + 90, None), (3_600.0, 0.425, NOW + 5, None)]


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ([("Retry-After", "7")], 7.0),
        ([("retry-after", " 0.5 ")], 0.5),
        ([("retry-after", "0")], None),
        ([("retry-after", "-3")], None),
        ([("retry-after", "nan")], None),
        ([("retry-after", "soon")], None),
        ([("retry-after", "9"), ("retry-after-ms", "250")], 0.25),
        ([("retry-after", "Sun, 15 Jun 2025 15:07:00 GMT")], 20.0),
        ([("retry-after", "Sun, 15 Jun 2025 15:00:00 GMT")], None),
        (
            [
                ("anthropic-ratelimit-tokens-remaining", "0"),
                ("anthropic-ratelimit-tokens-reset", "2025-06-15T15:07:10Z"),
                ("anthropic-ratelimit-requests-remaining", "3"),
                ("anthropic-ratelimit-requests-reset", "2025-06-15T16:00:00Z"),
            ],
            30.0,
        ),
        ([("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6m0s")], 360.0),
        ([("x-ratelimit-remaining-tokens", "1"), ("x-ratelimit-reset-tokens", "6m0s")], None),
        ([], None),
    ],
)
def test_waits_are_read_from_headers(headers: list[tuple[str, str]], wait: float | None) -> None:
    found = wait_until(headers, NOW)
    assert found == (None if wait is None else NOW + wait)


@pytest.mark.parametrize("value", ["9" * 40, "1e30", "253402300799999"])
@pytest.mark.parametrize("name", ["reset-at", "reset-after-seconds", "window-minutes"])
def test_no_window_of_codex_lasts_longer_than_messages_tell(name: str, value: str) -> None:
    headers = [(f"x-codex-primary-{name}", value), ("x-codex-primary-used-percent", "100")]
    (window,) = codex(headers, NOW, 90).windows
    assert window.length_s <= LONGEST_WINDOW_S
    assert (window.reset_unix_s or 0.0) < CALENDAR_END_UNIX_S


@pytest.mark.parametrize("value", ["9" * 40, "1e30", "253402300799999", "9999-12-31T23:59:59Z"])
def test_no_unified_window_ends_later_than_messages_tell(value: str) -> None:
    long_ago = ("date", "Mon, 01 Jan 0001 00:00:00 GMT")
    found = unified([(UNIFIED + "5h-reset", value), (UNIFIED + "reset", value), long_ago], NOW)
    resets = [found.reset_unix_s, *(window.reset_unix_s for window in found.windows)]
    assert all((reset or 0.0) < CALENDAR_END_UNIX_S for reset in resets)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=50)), max_size=6))
def test_any_headers_are_read(pairs: list[tuple[str, str]]) -> None:
    named = [(UNIFIED + "5h-status", value) for _, value in pairs] + pairs
    assert len(unified(named, NOW).windows) <= 3
    codex(pairs, NOW, 90)
    wait_until(pairs, NOW)
