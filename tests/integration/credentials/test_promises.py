"""What the service promises beside its rules: no probes, no waits, no bodies kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.codec.selection import decode_acquire
from services.credentials.model import (
    Bucket,
    EndKind,
    Phase,
    Query,
    Secrets,
    Slot,
    TokenClient,
)
from services.credentials.server import Service
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import (
    KEY,
    OPTIONS,
    TENANT,
    account,
    asked,
    ended,
    named,
    picked,
    replica,
    running,
    told,
)

CLAUDE = CredentialKind.CLAUDE_OAUTH
WARNED = ("anthropic-ratelimit-unified-5h-status", "allowed_warning")
HOUR, DAY = 3_600.0, 86_400.0


def service(tmp_path: Path, clock: FakeClock, *labels: str, **options: object) -> Service:
    url = f"sqlite:///{tmp_path}/credentials.db"
    return replica(url, [account(one) for one in labels], clock, **options)  # type: ignore[arg-type]  # any option


@pytest.mark.spec("CRD-3")
async def test_the_headers_of_a_stream_that_runs_on_count_at_once(
    tmp_path: Path, clock: FakeClock
) -> None:
    async with running(service(tmp_path, clock, "a", "b")) as (one,):
        streaming = await picked(one)
        headers = told(clock, streaming.credential_id, 200, WARNED, grant_id=streaming.id)
        assert headers.phase is Phase.HEADERS
        await one.reports.apply(headers)
        clock.advance(1)
        others = {(await picked(one)).credential_id for _ in range(4)}
        assert others == set(one.vault.pool.by_id) - {streaming.credential_id}
        assert one.grants.count(streaming.credential_id) == 1  # it runs on
        await one.reports.apply(ended(clock, streaming.credential_id, 200, grant_id=streaming.id))
        assert named(one, "a").marks or named(one, "b").marks


@pytest.mark.spec("CRD-22")
@pytest.mark.parametrize("purpose", pb.SecretPurpose.values()[1:])
def test_a_selection_for_a_call_of_our_own_cannot_name_what_a_caller_presented(
    purpose: pb.SecretPurpose,
) -> None:
    names = [field.name for field in pb.SecretSelection.DESCRIPTOR.fields]
    assert not [name for name in names if "presented" in name]
    message = pb.AcquireSecretRequest(
        action=action_pb2.ActionContext(action_id="a", installation_id=TENANT),
        selection=pb.SecretSelection(
            idempotency_key="k",
            purpose=purpose,
            eligibility=eligibility_pb2.EligibilityRecord(
                installation_id=TENANT, presented_hashes=["h"]
            ),
            binding=binding_pb2.BindingRef(model_id="m", provider="anthropic"),
        ),
    )
    found = decode_acquire(message)
    assert isinstance(found, Query)
    assert found.presented == ()


@pytest.mark.spec("CRD-74")
async def test_nothing_is_ever_sent_to_learn_whether_quota_is_back(
    tmp_path: Path, clock: FakeClock, issuer: TokenIssuer
) -> None:
    secrets = Secrets("access", "", expire_unix_s=clock.now_unix_s() + 30 * DAY)
    # Its token endpoint and its API are the same server here: whatever is sent is seen.
    at_home = replace(account("a", base_url=issuer.url), secrets=secrets)
    url = f"sqlite:///{tmp_path}/credentials.db"
    options = {
        "token_urls": {CLAUDE: issuer.url},
        "token_clients": {CLAUDE: TokenClient("client")},
    }
    async with running(replica(url, [at_home], clock, **options)) as (one,):  # type: ignore[arg-type]  # any option
        identity = named(one, "a").id
        await one.reports.apply(told(clock, identity, 429, ("retry-after", str(int(5 * DAY)))))
        for _ in range(24):
            clock.advance(6 * HOUR)
            await one.reports.sweep()
            await one.refresher.look()
            await one.refresher.settled()
        assert issuer.asked == []
        assert (await picked(one)).bucket is Bucket.CLEAN  # a caller's request finds it back


class Counted(Alone):
    """What replicas share, with every question counted."""

    is_alone = False

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def bound(self, key: str, credential_id: str, ttl_s: float) -> str:
        """Count, and bind to the given one."""
        self.asked.append("bound")
        return credential_id

    async def rebind(self, key: str, credential_id: str, ttl_s: float) -> None:
        """Count."""
        self.asked.append("rebind")

    async def take(self, slot: Slot, ttl_s: float) -> bool:
        """Count, and let it be taken."""
        self.asked.append("take")
        return True


@pytest.mark.spec("CRD-115")
async def test_a_pick_reads_memory_and_others_are_asked_for_limits_and_new_sessions_alone(
    tmp_path: Path, clock: FakeClock
) -> None:
    store, shared = SqlStore(f"sqlite:///{tmp_path}/credentials.db"), Counted()
    pool = (account("a"), account("b"), account("limited", max_in_flight=9, provider="openai"))
    options = replace(OPTIONS, declared=pool)
    cipher = AesGcmCipher((KEY,))
    one = Service(store, cipher, options, clock, shared, HttpTokenEndpoint(), NoTokenFiles())
    async with running(one):
        await store.aclose()  # nothing below may need it
        (tmp_path / "credentials.db").rename(tmp_path / "away.db")
        for _ in range(20):
            await picked(one)
        assert shared.asked == []
        await picked(one, provider="openai")
        assert shared.asked == ["take"]
        shared.asked.clear()
        for _ in range(20):
            await picked(one, session=b"s" * 16)
        assert shared.asked == ["bound", "rebind"]
        (tmp_path / "away.db").rename(tmp_path / "credentials.db")


@pytest.mark.spec("CRD-155", "CRD-152")
async def test_no_body_of_an_upstream_or_a_token_endpoint_is_kept_or_told(
    tmp_path: Path, clock: FakeClock, issuer: TokenIssuer
) -> None:
    marker = "canary-of-a-body"
    issuer.failure = (400, {"error": "invalid_grant", "error_description": marker})
    secrets = Secrets("access-1", "R1", expire_unix_s=clock.now_unix_s() + 60)
    url = f"sqlite:///{tmp_path}/credentials.db"
    options = {
        "token_urls": {CLAUDE: issuer.url},
        "token_clients": {CLAUDE: TokenClient("client")},
    }
    pool = [replace(account("a"), secrets=secrets), account("b")]
    with structlog.testing.capture_logs() as lines:
        async with running(replica(url, pool, clock, **options)) as (one,):  # type: ignore[arg-type]  # any option
            body = f'{{"error":{{"type":"permission_error","message":"{marker}"}}}}'.encode()
            for status in (400, 401, 402, 403, 404, 429, 500):
                identity = named(one, "b").id
                report = ended(clock, identity, status, body, end_kind=EndKind.FAILED)
                assert marker not in repr(report)
                await one.reports.apply(report)
            await one.refresher.look()
            await one.refresher.settled()
            query = asked(provider="openai")
            assert marker not in repr(one.selector.explain(query))
            assert marker not in repr(one.vault.pool)
    assert issuer.asked
    assert marker not in repr(lines)
    assert holders_of(marker, tmp_path) == []
    assert holders_of("SQLite format", tmp_path) == ["credentials.db"]


def holders_of(text: str, folder: Path) -> list[str]:
    """Return the names of the files that hold a text."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in files if text.encode() in path.read_bytes()]


@pytest.mark.spec("CRD-8", "CRD-10", "CRD-144")
async def test_an_account_that_was_off_for_days_serves_at_once_when_it_is_switched_on(
    tmp_path: Path, clock: FakeClock, issuer: TokenIssuer
) -> None:
    issuer.life_s = int(8 * HOUR)
    issuer.live = {"R1"}
    secrets = Secrets("access-1", "R1", expire_unix_s=clock.now_unix_s() + 8 * HOUR)
    url = f"sqlite:///{tmp_path}/credentials.db"
    options = {
        "token_urls": {CLAUDE: issuer.url},
        "token_clients": {CLAUDE: TokenClient("client")},
    }
    pool = [replace(account("a"), secrets=secrets), account("b")]
    async with running(replica(url, pool, clock, **options)) as (one,):  # type: ignore[arg-type]  # any option

        async def switch(*, on: bool) -> None:
            await one.vault.change(
                named(one, "a").id,
                lambda now: replace(now, spec=replace(now.spec, is_enabled=on)),
            )

        await switch(on=False)
        for _ in range(3 * 24 * 6):
            clock.advance(600)
            await one.refresher.look()
            await one.refresher.settled()
            assert (await picked(one)).credential_id == named(one, "b").id
        asked_before = len(issuer.asked)
        assert asked_before >= 8
        await switch(on=True)
        found = {(await one.acquirer.select(asked()))[2].secrets.value for _ in range(2)}
        assert f"access-{asked_before + 1}" in found
        assert len(issuer.asked) == asked_before
