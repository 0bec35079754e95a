"""Lines about live actions."""

from __future__ import annotations

import pytest
from google.protobuf.duration_pb2 import Duration
from pointsman.common.v1 import attempt_pb2, binding_pb2, grant_pb2, usage_pb2
from pointsman.dispatch.v1 import dispatch_pb2
from pointsman.router.v1 import router_pb2

from services.cli.following import line_of

BIG = binding_pb2.BindingRef(model_id="big", provider="acme")
HALF = Duration(nanos=500_000_000)


def notice(**facts: object) -> router_pb2.WatchDecisionsResponse:
    attempt = attempt_pb2.AttemptRecord(
        attempt_number=2,
        kind=attempt_pb2.ATTEMPT_KIND_SERVE,
        binding=BIG,
        outcome=attempt_pb2.ATTEMPT_OUTCOME_FAILED,
        failure_class=attempt_pb2.FAILURE_CLASS_RATE_LIMITED,
        http_status=429,
    )
    told = router_pb2.AttemptNotice(action_id="act_1", attempt=attempt)
    told.MergeFrom(router_pb2.AttemptNotice(**facts))  # type: ignore[arg-type]  # fields by name
    return router_pb2.WatchDecisionsResponse(attempted=told)


def test_a_failed_attempt_says_why_and_what_follows() -> None:
    told = notice(
        next_step=dispatch_pb2.WALK_STEP_RETRY,
        wait=HALF,
        retry_delay=Duration(seconds=30),
        vendor_type="rate_limit_error",
        dropped_feature="top_k",
    )
    assert line_of(told) == (
        "act_1    2 big@acme: failed, rate_limited, HTTP 429, rate_limit_error, asks for 30 s,"
        " gave up top_k, next: retry in 500 ms"
    )


def test_a_shadow_says_what_it_would_pick() -> None:
    shadow = router_pb2.ShadowDecision(strategy="cluster", binding=BIG, reason="scored")
    told = router_pb2.ShadowNotice(action_id="act_1", shadow=shadow)
    line = line_of(router_pb2.WatchDecisionsResponse(shadowed=told))
    assert line == "act_1    shadow cluster would pick big@acme (scored)"


def test_an_attempt_that_begins_says_why_and_on_what() -> None:
    began = router_pb2.AttemptBegin(
        action_id="act_1",
        attempt_number=2,
        binding=BIG,
        cause=attempt_pb2.ATTEMPT_CAUSE_ROTATION,
        credential=grant_pb2.CredentialAttribution(fingerprint="abcd1234"),
        wait=HALF,
    )
    line = line_of(router_pb2.WatchDecisionsResponse(began=began, missed_event_count=3))
    expected = "act_1    2 big@acme: rotation after 500 ms, credential abcd1234"
    assert line == f"(3 events missed)  {expected}"


def test_summaries_of_the_routers_own_are_named() -> None:
    told = notice()
    told.attempted.attempt.kind = attempt_pb2.ATTEMPT_KIND_SWITCH_SUMMARY
    assert line_of(told).startswith("act_1    switch_summary big@acme: failed")


def test_an_attempt_that_served_says_what_it_used() -> None:
    told = notice()
    told.attempted.attempt.MergeFrom(
        attempt_pb2.AttemptRecord(
            outcome=attempt_pb2.ATTEMPT_OUTCOME_SERVED,
            usage=usage_pb2.Usage(fresh_input_token_count=7, output_token_count=3),
        )
    )
    assert line_of(told).endswith("7 in, 3 out")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (
            router_pb2.ActionResult(http_status=200, served=BIG, charged_micro_usd=1200),
            "act_1  HTTP 200 big@acme, 3 attempts, $0.001200",
        ),
        (
            router_pb2.ActionResult(
                http_status=503, failure_class=attempt_pb2.FAILURE_CLASS_UPSTREAM_STATUS
            ),
            "act_1  HTTP 503 upstream_status, 3 attempts",
        ),
    ],
)
def test_the_end_says_who_served_or_why_nobody_did(
    result: router_pb2.ActionResult, expected: str
) -> None:
    result.action_id, result.attempt_count = "act_1", 3
    assert line_of(router_pb2.WatchDecisionsResponse(completed=result)) == expected


def test_a_sign_of_life_is_no_line() -> None:
    assert not line_of(router_pb2.WatchDecisionsResponse())
