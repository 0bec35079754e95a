"""Errors and limits of size are the same in process, on a Unix socket and over TCP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status
from pointsman.dispatch.v1 import dispatch_pb2 as pb

from services.domain.errors import FieldViolation, InvalidRequestError, Reason, RouterError
from services.runtime import status
from tests.contract import sample
from tests.contract.sample import SOON_S, Rules, Sample, failure_of, read_part, stub_of
from tests.contract.transports import Serve

pytestmark = pytest.mark.spec("OPS-3")
CAP_BYTES = 10_000


def request_of_size(size: int) -> sample.Request:
    frame = sample.request("x" * size).ByteSize() - size
    return sample.request("x" * (size - frame))


def response_of_size(size: int) -> sample.Response:
    frame = sample.response("x" * size).ByteSize() - size
    return sample.response("x" * (size - frame))


async def test_a_request_may_be_as_large_as_the_limit_and_no_larger(serve: Serve) -> None:
    async def swallow(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        return sample.response("ok")

    stub = await stub_of(serve, Sample(on_unary=swallow), Rules(max_message_bytes=CAP_BYTES))
    fits, too_large = request_of_size(CAP_BYTES), request_of_size(CAP_BYTES + 1)
    assert (fits.ByteSize(), too_large.ByteSize()) == (CAP_BYTES, CAP_BYTES + 1)
    assert (await stub.ListUpstreamModels(fits, timeout=SOON_S)).next_page_token == "ok"
    failure = await failure_of(stub.ListUpstreamModels(too_large, timeout=SOON_S))
    assert failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert status.error_of(failure).reason is Reason.MESSAGE_TOO_LARGE


async def test_a_response_may_be_as_large_as_the_limit_and_no_larger(serve: Serve) -> None:
    async def inflate(request: sample.Request, _: sample.UnaryContext) -> sample.Response:
        return response_of_size(int(request.page_token))

    stub = await stub_of(serve, Sample(on_unary=inflate), Rules(max_message_bytes=CAP_BYTES))
    fits = await stub.ListUpstreamModels(sample.request(str(CAP_BYTES)), timeout=SOON_S)
    assert fits.ByteSize() == CAP_BYTES
    failure = await failure_of(
        stub.ListUpstreamModels(sample.request(str(CAP_BYTES + 1)), timeout=SOON_S)
    )
    assert status.error_of(failure).reason is Reason.MESSAGE_TOO_LARGE


async def test_a_part_of_a_stream_may_be_as_large_as_the_limit_and_no_larger(serve: Serve) -> None:
    async def grow(
        _: pb.DispatchRequest, __: sample.StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        frame = sample.part(bytes(CAP_BYTES)).ByteSize() - CAP_BYTES
        yield sample.part(bytes(CAP_BYTES - frame))
        yield sample.part(bytes(CAP_BYTES - frame + 1))

    stub = await stub_of(serve, Sample(on_stream=grow), Rules(max_message_bytes=CAP_BYTES))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert (await read_part(call)).ByteSize() == CAP_BYTES
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert status.error_of(caught.value).reason is Reason.MESSAGE_TOO_LARGE


def details_of(failure: grpc.aio.AioRpcError) -> status_pb2.Status:
    found = rpc_status.from_call(failure)  # type: ignore[arg-type]  # reads any error with trailers
    assert found is not None
    return found


async def test_a_reason_travels_with_its_metadata_and_wait(serve: Serve) -> None:
    async def refuse(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        raise RouterError(
            Reason.ALL_CREDENTIALS_COOLING,
            "every credential rests — retry later",
            metadata={"provider": "anthropic"},
            retry_after_s=1.5,
        )

    stub = await stub_of(serve, Sample(on_unary=refuse))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert failure.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert failure.details() == "every credential rests — retry later"
    info, wait = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    first, second = details_of(failure).details
    assert first.Unpack(info)
    assert second.Unpack(wait)
    assert (info.domain, info.reason) == ("pointsman", "ALL_CREDENTIALS_COOLING")
    assert wait.retry_delay == duration_pb2.Duration(seconds=1, nanos=500_000_000)
    error = status.error_of(failure)
    assert error.reason is Reason.ALL_CREDENTIALS_COOLING
    assert error.metadata == {"provider": "anthropic"}
    assert error.retry_after_s == 1.5


async def test_every_bad_field_travels(serve: Serve) -> None:
    bad = [FieldViolation("plan.attempts", "give 1 to 16"), FieldViolation("body", "is required")]

    async def refuse(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        raise InvalidRequestError(bad)

    stub = await stub_of(serve, Sample(on_unary=refuse))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    error = status.error_of(failure)
    assert failure.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert isinstance(error, InvalidRequestError)
    assert list(error.violations) == bad


async def test_long_texts_in_an_error_do_not_hide_its_reason(serve: Serve) -> None:
    async def refuse(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        raise RouterError(
            Reason.MODEL_NOT_FOUND, "no model " + "é" * 100_000, metadata={"model": "é" * 100_000}
        )

    stub = await stub_of(serve, Sample(on_unary=refuse))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert status.error_of(failure).reason is Reason.MODEL_NOT_FOUND


async def test_many_bad_fields_do_not_hide_the_reason(serve: Serve) -> None:
    async def refuse(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        raise InvalidRequestError([FieldViolation(f"f{n}", "x" * 1000) for n in range(100)])

    stub = await stub_of(serve, Sample(on_unary=refuse))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert status.error_of(failure).reason is Reason.INVALID_REQUEST


async def test_a_stream_that_fails_keeps_what_came_and_the_reason(serve: Serve) -> None:
    async def break_off(
        _: pb.DispatchRequest, __: sample.StreamContext
    ) -> AsyncIterator[pb.DispatchResponse]:
        yield sample.part(b"kept")
        raise RouterError(Reason.TARGET_MISMATCH, "wrong target")

    stub = await stub_of(serve, Sample(on_stream=break_off))
    call = stub.Dispatch(pb.DispatchRequest(), timeout=SOON_S)
    assert (await read_part(call)).chunk == b"kept"
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call.read()
    assert status.error_of(caught.value).reason is Reason.TARGET_MISMATCH


async def test_an_unforeseen_fault_tells_the_caller_nothing_of_itself(serve: Serve) -> None:
    async def break_down(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        raise ValueError("the password is swordfish")

    stub = await stub_of(serve, Sample(on_unary=break_down))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert failure.code() is grpc.StatusCode.INTERNAL
    assert status.error_of(failure).reason is Reason.INTERNAL
    assert "swordfish" not in str(details_of(failure))


async def test_a_handlers_own_timeout_is_a_fault_of_the_service(serve: Serve) -> None:
    async def give_up(_: sample.Request, __: sample.UnaryContext) -> sample.Response:
        async with asyncio.timeout(0.01):
            await asyncio.Event().wait()
        return sample.response()

    stub = await stub_of(serve, Sample(on_unary=give_up))
    failure = await failure_of(stub.ListUpstreamModels(sample.request(), timeout=SOON_S))
    assert failure.code() is grpc.StatusCode.INTERNAL
