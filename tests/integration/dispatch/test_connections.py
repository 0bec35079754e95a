"""Connections: where a tenant's endpoint may be, how many are kept, and that none is waited for."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import os
import socket
from dataclasses import replace

import aiohttp
import pytest
from aiohttp.abc import ResolveResult

from services.dispatch.adapters import connections
from services.dispatch.adapters.http import HttpUpstream
from services.dispatch.model.enums import AttemptOutcome
from services.dispatch.model.outcome import AttemptFault
from services.dispatch.ports import UpstreamRequest
from services.domain.vocab import FailureClass
from tests.fakes.upstream import FakeUpstream, Fault
from tests.integration.dispatch.harness import ANTHROPIC, standing

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


def to(url: str, *, proxy_url: str = "", is_tenants: bool = True) -> UpstreamRequest:
    return UpstreamRequest(
        "p1",
        f"{url}/v1/messages",
        (("content-type", "application/json"),),
        body=b'{"model":"m","max_tokens":1,"messages":[]}',
        header_timeout_s=2.0,
        proxy_url=proxy_url,
        is_address_checked=is_tenants,
    )


async def status_of(upstream: HttpUpstream, request: UpstreamRequest) -> int:
    answer = await upstream.open(request)
    async with contextlib.aclosing(answer):
        while await answer.read():
            pass
    return answer.http_status


@pytest.mark.spec("DSP-186")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
@pytest.mark.parametrize("through", ["straight", "proxy"])
async def test_a_tenants_endpoint_must_be_public_in_whatever_way_it_is_written(
    host: str, through: str
) -> None:
    async with FakeUpstream() as fake, contextlib.aclosing(HttpUpstream()) as upstream:
        proxy_url = fake.base_url if through == "proxy" else ""
        with pytest.raises(AttemptFault) as caught:
            await status_of(upstream, to(f"http://{host}:{fake.port}", proxy_url=proxy_url))
        fault = caught.value.fault
        assert fault.failure_class is FailureClass.PROVIDER_NOT_CONFIGURED
        assert "tenant_networks" in fault.message
        assert host not in fault.message
        assert not fake.requests


@pytest.mark.parametrize("host", ["2130706433", "0", "127.1", "0x7f000001"])
async def test_numbers_that_a_resolver_may_take_for_an_address_lead_nowhere(host: str) -> None:
    async with FakeUpstream() as fake, contextlib.aclosing(HttpUpstream()) as upstream:
        with pytest.raises(AttemptFault):
            await status_of(upstream, to(f"http://{host}:{fake.port}"))
        assert not fake.requests


@pytest.mark.spec("DSP-186")
async def test_a_tenants_proxy_must_be_public_as_well() -> None:
    async with FakeUpstream() as fake, contextlib.aclosing(HttpUpstream()) as upstream:
        with pytest.raises(AttemptFault) as caught:
            await status_of(upstream, to("http://8.8.8.8", proxy_url=fake.base_url))
        assert caught.value.fault.failure_class is FailureClass.PROVIDER_NOT_CONFIGURED
        assert not fake.requests


@pytest.mark.spec("DSP-186")
async def test_what_the_deployment_configured_or_permits_is_connected_to() -> None:
    async with FakeUpstream() as fake, contextlib.aclosing(HttpUpstream()) as upstream:
        assert await status_of(upstream, to(fake.base_url, is_tenants=False)) == 200
        async with contextlib.aclosing(HttpUpstream(LOOPBACK)) as permitting:
            assert await status_of(permitting, to(fake.base_url)) == 200
            named = fake.base_url.replace("127.0.0.1", "localhost")
            assert await status_of(permitting, to(named)) == 200


class Turning(aiohttp.ThreadedResolver):
    """Answers a public address first and the loopback afterwards, whatever the name."""

    def __init__(self, answers: list[str]) -> None:
        super().__init__()
        self._answers = answers

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        return await super().resolve(self._answers.pop(0), port, family)


@pytest.mark.spec("DSP-186")
async def test_the_address_that_was_checked_is_the_one_that_is_connected_to() -> None:
    """A public answer that is followed by a private one gains nothing."""
    answers = ["8.8.8.8", "127.0.0.1"]
    async with FakeUpstream() as fake:
        request = to(f"http://turning.example:{fake.port}")
        for left in (["127.0.0.1"], []):
            upstream = HttpUpstream(resolver_of=lambda: Turning(answers))
            async with contextlib.aclosing(upstream):
                with pytest.raises(AttemptFault):
                    await status_of(upstream, replace(request, header_timeout_s=0.2))
            assert answers == left
        assert not fake.requests


@pytest.mark.spec("DSP-186")
async def test_a_tenants_private_endpoint_is_passed_over_for_the_next_binding() -> None:
    async with standing(ANTHROPIC, ANTHROPIC) as stand:
        stand.credentials.tenant_urls["p1"] = stand.providers["p1"][0].base_url
        answer = await stand.run(stand.order())
        assert answer.head.binding.provider == "p2"
        first = answer.missed[0]
        assert first.record.failure_class is FailureClass.PROVIDER_NOT_CONFIGURED
        assert answer.tail.record.outcome is AttemptOutcome.SERVED
        assert not stand.providers["p1"][0].requests


@pytest.mark.spec("DSP-186")
async def test_no_request_waits_for_another_and_few_free_connections_are_kept() -> None:
    count = 300
    async with FakeUpstream() as fake, contextlib.aclosing(HttpUpstream()) as upstream:
        fake.script(Fault(chunks=2, first_delay=1.5), times=None)
        request = replace(to(fake.base_url, is_tenants=False), header_timeout_s=30.0)
        answers = await asyncio.gather(*(upstream.open(request) for _ in range(count)))
        assert fake.open_connections >= count
        for answer in answers:
            while await answer.read():
                pass
            await answer.aclose()
        await asyncio.sleep(0.3)  # for the provider to notice which were closed
        assert fake.open_connections == connections.MAX_IDLE_PER_HOST


@pytest.mark.spec("DSP-186")
async def test_a_connection_notices_that_its_peer_has_gone() -> None:
    made = connections.keepalive_socket((socket.AF_INET, socket.SOCK_STREAM, 0, "", None))
    with contextlib.closing(made):
        assert made.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == connections.KEEPALIVE_S


async def sockets_free(of: int) -> None:
    """Return when no socket of ours is connected to a port any more."""
    async with asyncio.timeout(2.0):
        while any(peer_port(each) == of for each in os.listdir("/proc/self/fd")):  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.02)


def peer_port(number: str) -> int:
    try:
        with socket.socket(fileno=os.dup(int(number))) as made:
            return int(made.getpeername()[1])
    except (OSError, IndexError, TypeError):
        return 0


@pytest.mark.spec("DSP-3", "DSP-190")
@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_a_peer_that_reads_no_more_holds_no_socket_of_ours() -> None:
    """What is left of a request would be sent for ever."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1]
        request = replace(
            to(f"http://127.0.0.1:{port}", is_tenants=False),
            body=b"x" * 16 * 1024 * 1024,
            header_timeout_s=0.2,
        )
        async with contextlib.aclosing(HttpUpstream()) as upstream:
            with pytest.raises(AttemptFault) as caught:
                await upstream.open(request)
            assert caught.value.fault.failure_class is FailureClass.HEADER_TIMEOUT
            await sockets_free(port)
            left = asyncio.create_task(upstream.open(replace(request, header_timeout_s=30.0)))
            await asyncio.sleep(0.2)
            left.cancel()
            with pytest.raises(asyncio.CancelledError):
                await left
            await sockets_free(port)
