"""Fixtures of the contract tests: each of them runs once per transport."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from services.runtime import host
from tests.contract.transports import LOCAL, Serve, Served, Transport, serving


@pytest.fixture(params=list(Transport), ids=str)
def transport(request: pytest.FixtureRequest) -> Transport:
    """Give each transport in turn."""
    chosen = request.param
    assert isinstance(chosen, Transport)
    return chosen


@pytest.fixture
async def serve(transport: Transport) -> AsyncIterator[Serve]:
    """Give a function that serves a bundle over the transport until the test ends."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(bundle: host.Bundle, options: host.ServerOptions | None = None) -> Served:
            return await stack.enter_async_context(serving(bundle, transport, options or LOCAL))

        yield start
