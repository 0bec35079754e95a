"""Three processes of the service over PostgreSQL and Valkey, killed and cut off while they work."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import asyncpg
import pytest
from google.protobuf import timestamp_pb2
from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2, header_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb
from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.runtime import database
from services.runtime.channel import Channel, connect
from tests.fakes.process import RunningProcess
from tests.fakes.tokens import TokenIssuer
from tests.fakes.valkey import running_valkey
from tests.integration.cli.pointsman import command, environment

SERVICE = "pointsman.credentials.v1.CredentialsService"
START_S = 40.0
CALL_S = 10.0
BOUND_S = 5.0
"""Within it a change is seen by every replica, at worst."""
ROUND = 24
UNIFIED = "anthropic-ratelimit-unified-"

pytestmark = pytest.mark.timeout(180)


class Replica:
    """One process and the calls of dispatch to it."""

    def __init__(self, process: RunningProcess, channel: Channel) -> None:
        self.process = process
        self.channel = channel
        self.stub = rpc.CredentialsServiceStub(channel)

    async def credential(self) -> pb.Credential:
        """Return the only credential, without what each replica counts by itself."""
        found = await self.stub.ListCredentials(pb.ListCredentialsRequest(), timeout=CALL_S)
        (only,) = found.credentials
        only.in_flight_count = 0
        return only

    async def secret(self, number: int) -> str:
        """Return the token that an attempt would send."""
        answer = await self.stub.AcquireSecret(
            pb.AcquireSecretRequest(
                action=action_pb2.ActionContext(action_id=f"a{number}", installation_id="t"),
                selection=pb.SecretSelection(
                    idempotency_key=f"k{number}",
                    purpose=pb.SECRET_PURPOSE_SERVE,
                    eligibility=eligibility_pb2.EligibilityRecord(installation_id="t"),
                    binding=binding_pb2.BindingRef(model_id="m", provider="anthropic"),
                ),
            ),
            timeout=CALL_S,
        )
        return str(answer.auth.value_secret)

    def marks_told(self) -> int:
        """Return how many lines about marks it wrote."""
        events = ("credential_mark_set", "credential_mark_cleared")
        return sum(line.fields.get("event") in events for line in self.process.lines)


class Cluster:
    """Starts replicas over the same stores."""

    def __init__(self, home: Path, stack: contextlib.AsyncExitStack) -> None:
        self._home = home
        self._stack = stack
        self._numbers = iter(range(1, 10_000))

    async def start(self) -> Replica:
        """Return a replica that serves."""
        process = RunningProcess(
            command("serve", "credentials", "--config", "pointsman.toml"),
            env=dict(environment(self._home)),
            cwd=self._home,
        )
        await self._stack.enter_async_context(process)
        line = await process.wait_for_event("serving", START_S)
        target = f"dns:///127.0.0.1:{line.fields['port']}"
        channel = connect(target, caller="dispatch", service=SERVICE)
        self._stack.push_async_callback(channel.aclose)
        return Replica(process, channel)

    async def secret(self, one: Replica) -> str:
        """Return the token that a new attempt would send."""
        return await one.secret(next(self._numbers))

    async def hammer(self, replicas: Sequence[Replica], credential: pb.Credential) -> int:
        """Report warnings and their ends everywhere at once; return how many changes were told."""
        reports = [self._report(credential, n) for n in range(ROUND)]

        async def send(number: int, report: pb.AttemptReport) -> int:
            stub = replicas[number % len(replicas)].stub
            answer = await stub.ReportAttempt(
                pb.ReportAttemptRequest(reports=[report]), timeout=CALL_S
            )
            return len(answer.results[0].transitions)

        return sum(await asyncio.gather(*(send(n, one) for n, one in enumerate(reports))))

    def _report(self, credential: pb.Credential, number: int) -> pb.AttemptReport:
        status = "allowed_warning" if number % 3 else "allowed"
        window = ("5h", "7d", "7d_oi")[number % 3 if number % 2 else 0]
        name = next(self._numbers)
        pairs = {f"{UNIFIED}{window}-status": status, f"{UNIFIED}status": "allowed_warning"}
        return pb.AttemptReport(
            grant_id=f"g{name}",
            action_id=f"a{name}",
            attempt_number=1,
            sequence_number=1,
            credential_id=credential.credential_id,
            credential_version=credential.credential_version,
            binding=binding_pb2.BindingRef(model_id="m", provider="anthropic"),
            send_time=_now(),
            headers=pb.AttemptHeaders(
                http_status=200,
                headers=[header_pb2.HeaderField(name=k, value=v) for k, v in pairs.items()],
                receive_time=_now(),
            ),
        )


def _now() -> timestamp_pb2.Timestamp:
    made = timestamp_pb2.Timestamp()
    made.FromNanoseconds(time.time_ns())
    return made


@contextlib.asynccontextmanager
async def cluster(
    home: Path, postgres_url: str, valkey_url: str, issuer: TokenIssuer, left_s: float
) -> AsyncIterator[Cluster]:
    """Give a cluster over migrated stores, of one account whose token has so long to live."""
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    (home / "pointsman.toml").write_text(
        f"""
[log]
format = "json"

[shared]
valkey_url = "{valkey_url}"

[services.credentials]
listen = "127.0.0.1:0"
ops_listen = "127.0.0.1:0"
database = "{postgres_url.replace("+asyncpg", "")}"
encryption_keys = ["{"5a" * 32}"]
claude_token_url = "{issuer.url}"
token_journal = "{home}/tokens"
lame_duck_seconds = 0
drain_seconds = 5

[[credentials]]
provider = "anthropic"
kind = "claude_oauth"
label = "a"
secret = "access-1"
refresh_token = "R1"
expires_at = {time.time() + left_s:.0f}
"""
    )
    async with contextlib.AsyncExitStack() as stack:
        yield Cluster(home, stack)


async def agreed(replicas: Sequence[Replica]) -> pb.Credential:
    """Return the credential once every replica shows the same, within the bound."""
    async with asyncio.timeout(BOUND_S):
        while True:
            seen = [await one.credential() for one in replicas]
            if all(one == seen[0] for one in seen):
                return seen[0]
            await asyncio.sleep(0.05)


def distinct_lines(replicas: Sequence[Replica]) -> set[tuple[object, ...]]:
    """Return the transitions that the cluster told, each by what makes it another one."""
    names = ("event", "window", "cause", "expire_unix_s", "timestamp")
    return {
        tuple(line.fields.get(name) for name in names)
        for one in replicas
        for line in one.process.lines
        if str(line.fields.get("event")).startswith("credential_mark_")
    }


@pytest.mark.spec("CRD-119", "CRD-121", "CRD-122", "CRD-124", "CRD-46", "CRD-175")
async def test_three_processes_agree_with_valkey_without_it_and_when_it_is_back(
    tmp_path: Path, postgres_url: str, issuer: TokenIssuer
) -> None:
    with contextlib.ExitStack() as valkeys:
        valkey = valkeys.enter_context(running_valkey())
        port = int(valkey.url.rpartition(":")[2].removesuffix("/0"))
        async with cluster(tmp_path, postgres_url, valkey.url, issuer, 86_400) as made:
            replicas = await asyncio.gather(*(made.start() for _ in range(3)))
            told = 0
            for step in ("there", "gone", "back"):
                if step == "gone":
                    valkeys.close()
                if step == "back":
                    valkeys.enter_context(running_valkey(port))
                told += await made.hammer(replicas, await agreed(replicas))
                await agreed(replicas)
            await asyncio.sleep(1.5)  # a sweep: what a replica saw cleared too early is cleared now
            last = await agreed(replicas)
            lines = sum(one.marks_told() for one in replicas)
            assert told > 0
            assert lines >= told
            assert len(distinct_lines(replicas)) == lines
            killed = replicas[0]
            await killed.process.kill()
            rest = replicas[1:]
            await made.hammer(rest, last)
            after = await agreed(rest)
            again = await made.start()
            # A sweep may write once more meanwhile; whoever comes back sees what the others see.
            assert (await agreed([*rest, again])).state_version >= after.state_version


@pytest.mark.spec("CRD-131", "CRD-137", "CRD-139")
async def test_a_process_killed_in_a_rotation_loses_nothing(
    tmp_path: Path, postgres_url: str, valkey_url: str, issuer: TokenIssuer
) -> None:
    issuer.hold = asyncio.Event()
    async with cluster(tmp_path, postgres_url, valkey_url, issuer, 200) as made:
        dying = await made.start()
        async with asyncio.timeout(CALL_S):
            while not issuer.asked:  # noqa: ASYNC110 - it happens in another process
                await asyncio.sleep(0.02)
        await dying.process.kill()
        issuer.hold.set()
        issuer.hold = None
        rest = await asyncio.gather(made.start(), made.start())
        assert {await made.secret(one) for one in rest} <= {"access-1", "access-2"}
        async with asyncio.timeout(60):
            while {await made.secret(one) for one in rest} != {"access-2"}:  # noqa: ASYNC110 - there
                await asyncio.sleep(0.3)
        assert [one.refresh_token for one in issuer.asked] == ["R1", "R1"]
        assert issuer.live == {"R2"}
        credential = await agreed(rest)
        assert credential.system_state == pb.SYSTEM_STATE_OK
        assert credential.credential_version == 2


@contextlib.asynccontextmanager
async def locked_rows(postgres_url: str) -> AsyncIterator[None]:
    """Let every write of a credential wait while this holds."""
    connection = await asyncpg.connect(postgres_url.replace("+asyncpg", ""))
    try:
        async with connection.transaction():
            await connection.execute("SELECT 1 FROM credentials.credentials FOR NO KEY UPDATE")
            yield
    finally:
        await connection.close()


def kept_tokens(home: Path) -> list[Path]:
    """Return the files of tokens that a process keeps."""
    return list(home.glob("tokens/*.pair"))


async def killed_with_the_answer(
    made: Cluster, postgres_url: str, home: Path, issuer: TokenIssuer
) -> None:
    """Kill a process after the issuer rotated and before the store has the new pair."""
    issuer.hold = asyncio.Event()
    dying = await made.start()
    async with asyncio.timeout(CALL_S):
        while not issuer.asked:  # noqa: ASYNC110 - it happens in another process
            await asyncio.sleep(0.02)
        async with locked_rows(postgres_url):
            issuer.hold.set()
            issuer.hold = None
            while not kept_tokens(home):  # noqa: ASYNC110 - the same
                await asyncio.sleep(0.02)
            await dying.process.kill()
    assert issuer.live == {"R2"}


@pytest.mark.spec("CRD-131", "CRD-139", "CRD-140")
async def test_a_process_killed_before_the_store_had_the_answer_leaves_it_to_the_next(
    tmp_path: Path, postgres_url: str, valkey_url: str, issuer: TokenIssuer
) -> None:
    async with cluster(tmp_path, postgres_url, valkey_url, issuer, 200) as made:
        await killed_with_the_answer(made, postgres_url, tmp_path, issuer)
        after = await made.start()
        assert await made.secret(after) == "access-2"
        credential = await after.credential()
        assert credential.system_state == pb.SYSTEM_STATE_OK
        assert credential.credential_version == 2
        assert [one.refresh_token for one in issuer.asked] == ["R1"]
        assert kept_tokens(tmp_path) == []


@pytest.mark.slow
@pytest.mark.spec("CRD-142")
async def test_where_its_disk_is_lost_as_well_the_next_asks_once_more_and_tells_the_truth(
    tmp_path: Path, postgres_url: str, valkey_url: str, issuer: TokenIssuer
) -> None:
    async with cluster(tmp_path, postgres_url, valkey_url, issuer, 200) as made:
        await killed_with_the_answer(made, postgres_url, tmp_path, issuer)
        shutil.rmtree(tmp_path / "tokens")
        after = await made.start()
        assert await made.secret(after) == "access-1"  # as long as it lives
        line = await after.process.wait_for_event("credential_needs_login", 60)
        assert line.fields["code"] == "answer_lost"
        assert [one.refresh_token for one in issuer.asked] == ["R1", "R1"]
        assert (await after.credential()).system_state == pb.SYSTEM_STATE_NEEDS_LOGIN
