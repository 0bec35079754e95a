"""Times SelectCredential over loopback against the size of the pool and its marks.

``python -m tests.bench.selecting [--credentials N] [--marks N] [--calls N] [--churn N]`` prints
percentiles of the call and of the pick inside the service. ``--churn`` changes a credential every
so many calls, as reports do.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import grpc
from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.model import (
    Credential,
    CredentialSpec,
    Mark,
    MarkKind,
    Origin,
    Phase,
    Record,
    Report,
    Sealed,
)
from services.credentials.server import CredentialsServicer, Options, Service
from services.domain.vocab import CredentialKind, WireFamily
from services.runtime.clock import SystemClock

TENANT = "11111111-2222-4333-8444-555555555555"
MODELS = 20


def records(count: int, mark_count: int) -> list[Record]:
    """Return a pool whose marks are spread evenly; a fifth of it is blocked for the model asked."""
    now = time.time()
    made: list[Record] = []
    for number in range(count):
        each = mark_count // count
        marks = tuple(
            Mark(
                MarkKind.QUOTA,
                now,
                now + 3_600 + number,
                model_id=f"m{index if number % 5 == 0 else index + 1}",
            )
            for index in range(each)
        )
        credential = Credential(
            id=f"{number:032x}",
            spec=CredentialSpec("anthropic", CredentialKind.API_KEY, priority=number % 3),
            origin=Origin.STORED,
            marks=marks,
        )
        made.append(Record(credential, Sealed("none", b"")))
    return made


def request(number: int) -> pb.SelectCredentialRequest:
    """Return the question of one action."""
    action = action_pb2.ActionContext(
        action_id=f"a{number}",
        installation_id=TENANT,
        session_key=number.to_bytes(16, "big"),
        surface=action_pb2.WIRE_FAMILY_ANTHROPIC,
        turn_type=action_pb2.TURN_TYPE_MAIN_LOOP,
    )
    return pb.SelectCredentialRequest(
        action=action,
        idempotency_key=f"a{number}/1",
        bindings=[binding_pb2.BindingRef(model_id="m0", provider="anthropic")],
        eligibility=eligibility_pb2.EligibilityRecord(installation_id=TENANT),
    )


async def measure(count: int, mark_count: int, calls: int, churn: int) -> dict[str, float]:
    """Return percentiles in milliseconds."""
    families = {"anthropic": WireFamily.ANTHROPIC}
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(f"sqlite:///{Path(folder) / 'credentials.db'}")
        cipher = AesGcmCipher((b"k" * 32,))
        await store.start()
        await cipher.start()
        made = []
        for record in records(count, mark_count):
            sealed = cipher.seal(b'{"headers":[]}', f"{record.credential.id}\0anthropic")
            made.append(Record(record.credential, sealed))
        await store.insert(made, None)
        options = Options(families=families, poll_s=0)
        service = Service(
            store, cipher, options, clock, Alone(), HttpTokenEndpoint(), NoTokenFiles()
        )
        await service.start()
        server = grpc.aio.server()
        rpc.add_CredentialsServiceServicer_to_server(
            CredentialsServicer(service, options, clock), server
        )
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = rpc.CredentialsServiceStub(channel)
            took, inside = await _ask(stub, service, calls, churn)
        await server.stop(0)
        await service.aclose()
    cuts, inner = statistics.quantiles(took, n=100), statistics.quantiles(inside, n=100)
    return {
        "call p50": cuts[49],
        "call p99": cuts[98],
        "call max": max(took),
        "pick p50": inner[49],
        "pick p99": inner[98],
    }


async def _ask(
    stub: rpc.CredentialsServiceAsyncStub, service: Service, calls: int, churn: int
) -> tuple[list[float], list[float]]:
    took: list[float] = []
    inside: list[float] = []
    ids = list(service.vault.pool.by_id)
    for number in range(calls + 50):
        if churn and number % churn == 0:
            await service.reports.apply(_throttled(ids[number % len(ids)], number))
        asked = request(number)
        started = time.perf_counter()
        answer = await stub.SelectCredential(asked, timeout=5)
        if number >= 50:
            took.append((time.perf_counter() - started) * 1_000)
            inside.append(answer.record.elapsed.ToNanoseconds() / 1_000_000)
    return took, inside


def _throttled(credential_id: str, number: int) -> Report:
    now = time.time()
    return Report(
        f"g{number}",
        f"a{number}",
        1,
        1,
        Phase.HEADERS,
        credential_id=credential_id,
        model_id=f"m{number % MODELS}",
        http_status=429,
        headers=(("retry-after", "600"),),
        send_unix_s=now,
        observe_unix_s=now,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--credentials", type=int, default=1_000)
    parser.add_argument("--marks", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--churn", type=int, default=0)
    told = parser.parse_args()
    found = asyncio.run(measure(told.credentials, told.marks, told.calls, told.churn))
    for name, value in found.items():
        print(f"{name}\t{value:.3f} ms")


if __name__ == "__main__":
    main()
