from __future__ import annotations

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.domain.errors import (
    FieldViolation,
    InvalidRequestError,
    PeerError,
    Reason,
    RouterError,
)
from services.runtime import status

HEADER_LIMIT_BYTES = 8192
texts = st.text(max_size=3000)
reasons = st.sampled_from(Reason)


def through(error: RouterError) -> RouterError:
    """Return what a caller makes of `error` once it has travelled as a status."""
    sent = status.grpc_status_of(error)
    metadata = grpc.aio.Metadata(*(sent.trailing_metadata or ()))
    return status.error_of(
        grpc.aio.AioRpcError(sent.code, grpc.aio.Metadata(), metadata, details=sent.details)
    )


@given(
    reasons,
    st.text(max_size=200),
    st.dictionaries(st.text(max_size=20), st.text(max_size=50), max_size=4),
    st.one_of(st.none(), st.integers(0, 10_000).map(lambda quarter: quarter / 4)),
)
def test_an_error_survives_the_way(
    reason: Reason, message: str, metadata: dict[str, str], wait_s: float | None
) -> None:
    sent = RouterError(reason, message, metadata=metadata, retry_after_s=wait_s)
    seen = through(sent)
    assert (seen.reason, seen.message, seen.metadata, seen.retry_after_s) == (
        reason,
        message,
        metadata,
        wait_s,
    )


@given(reasons, texts, st.dictionaries(texts, texts, max_size=8), st.lists(texts, min_size=1))
def test_no_error_is_too_long_to_travel(
    reason: Reason, message: str, metadata: dict[str, str], fields: list[str]
) -> None:
    invalid = InvalidRequestError([FieldViolation(field, field) for field in fields], reason=reason)
    for error in (RouterError(reason, message, metadata=metadata), invalid):
        sent = status.grpc_status_of(error)
        (_, packed) = sent.trailing_metadata[0]
        percent_encoded, base64_encoded = 3 * len(sent.details.encode()), 4 * len(packed) // 3
        assert percent_encoded + base64_encoded < HEADER_LIMIT_BYTES
        assert through(error).reason is reason


def test_a_peer_that_is_down_is_told_apart_from_a_refusal() -> None:
    assert isinstance(through(RouterError(Reason.STORE_UNAVAILABLE, "no store")), PeerError)
    assert not isinstance(through(RouterError(Reason.GRANT_UNKNOWN, "no grant")), PeerError)


def bare(code: grpc.StatusCode, *trailing: tuple[str, bytes]) -> grpc.aio.AioRpcError:
    """Return a failure with the transport's own text."""
    return grpc.aio.AioRpcError(
        code,
        grpc.aio.Metadata(),
        grpc.aio.Metadata(*trailing),
        details="last error: ipv4:10.1.2.3:50051: connection reset",
    )


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.DATA_LOSS,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.UNKNOWN,
    ],
)
def test_a_call_that_the_transport_lost_is_a_peer_that_is_away(code: grpc.StatusCode) -> None:
    seen = status.error_of(bare(code))
    assert isinstance(seen, PeerError)
    assert (seen.reason, seen.retry_after_s) == (Reason.ROUTING_UNAVAILABLE, 1.0)
    assert "10.1.2.3" not in seen.message


def test_details_that_do_not_fit_the_end_of_the_call_are_passed_over() -> None:
    sent = status.status_of(RouterError(Reason.SERVER_BUSY, "busy"))
    late = bare(
        grpc.StatusCode.DEADLINE_EXCEEDED, ("grpc-status-details-bin", sent.SerializeToString())
    )
    unreadable = bare(grpc.StatusCode.UNAVAILABLE, ("grpc-status-details-bin", b"\xff"))
    for failure in (late, unreadable):
        seen = status.error_of(failure)
        assert isinstance(seen, PeerError)
        assert seen.reason is Reason.ROUTING_UNAVAILABLE


def test_a_text_that_was_changed_on_the_way_does_not_hide_the_reason() -> None:
    sent = status.status_of(RouterError(Reason.GRANT_UNKNOWN, "no grant "))
    failure = bare(grpc.StatusCode.NOT_FOUND, ("grpc-status-details-bin", sent.SerializeToString()))
    assert sent.code == grpc.StatusCode.NOT_FOUND.value[0]
    assert status.error_of(failure).reason is Reason.GRANT_UNKNOWN


def test_a_peer_that_does_not_know_us_is_no_word_about_the_clients_key() -> None:
    code = grpc.StatusCode.UNAUTHENTICATED
    failure = grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), details="who?")
    error = status.error_of(failure)
    assert error.reason is Reason.CALLER_NOT_ALLOWED
    assert error.trait.http_status == 500
    key = RouterError(Reason.ROUTER_KEY_INVALID, "no such key")
    assert through(key).reason is Reason.ROUTER_KEY_INVALID
