"""Puts answers on the socket, with the delays, cuts and stalls that a fault asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping

from aiohttp import web

from tests.fakes.upstream.values import Ending, Fault, RecordedRequest

BROKEN_FRAME = b"data: {not json\n\n"


async def send_stream(
    http: web.Request,
    request: RecordedRequest,
    frames: Iterable[bytes],
    error_frame: bytes,
    chunk_delay: float,
    headers: Mapping[str, str],
    *,
    is_timed: bool = False,
) -> web.StreamResponse:
    """Send `frames` as a chunked body and return the response, complete or cut.

    Frames of a stream that `is_timed` are made when they are due; its end comes a delay later.
    """
    fault = request.fault
    response = web.StreamResponse(status=fault.status, headers=headers)
    await response.prepare(http)
    await asyncio.sleep(fault.first_delay)
    made = _with_faults(frames, fault, error_frame)
    while True:
        if is_timed and request.events:
            await asyncio.sleep(chunk_delay)
        chunk = next(made, None)
        if chunk is None:
            break
        if request.events and not is_timed:
            await asyncio.sleep(chunk_delay)
        for piece in _split(chunk, fault.split):
            request.written += piece
            await response.write(piece)
            if fault.split:
                await asyncio.sleep(0)
        request.events += 1
        if request.events == fault.cut_after:
            return cut(http, request, response)
        if request.events == fault.stall_after:
            await asyncio.sleep(fault.stall)
    await response.write_eof()
    return response


async def send_body(
    http: web.Request, request: RecordedRequest, body: bytes, headers: Mapping[str, str]
) -> web.StreamResponse:
    """Send a body of known length and return the response, complete or cut in the middle."""
    fault = request.fault
    length = {"Content-Length": str(len(body))}
    response = web.StreamResponse(status=fault.status, headers={**length, **headers})
    await response.prepare(http)
    await asyncio.sleep(fault.first_delay)
    middle = len(body) // 2
    await response.write(body[:middle])
    if fault.cut_after is not None:
        return cut(http, request, response)
    if fault.stall_after is not None:
        await asyncio.sleep(fault.stall)
    await response.write(body[middle:])
    await response.write_eof()
    return response


def cut(
    http: web.Request, request: RecordedRequest, response: web.StreamResponse
) -> web.StreamResponse:
    """Close the connection after what was written so far, without a terminator."""
    request.ending = Ending.CUT
    if http.transport is not None:
        http.transport.close()
    return response


def _with_faults(frames: Iterable[bytes], fault: Fault, error_frame: bytes) -> Iterator[bytes]:
    if fault.error_first or fault.error_after == 0:
        yield error_frame
        return
    if fault.end_after == 0:
        return
    for number, chunk in enumerate(frames, start=1):
        yield BROKEN_FRAME if fault.bad_json and number == 2 else chunk
        if number == fault.error_after:
            yield error_frame
            return
        if number == fault.end_after:
            return


def _split(chunk: bytes, size: int) -> Iterator[bytes]:
    if not size:
        yield chunk
        return
    for start in range(0, len(chunk), size):
        yield chunk[start : start + size]
