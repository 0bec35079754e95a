"""A new token outlives the process that asked for it; where it cannot, the truth is told."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import structlog

from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.model import (
    AuditEntry,
    CredentialSpec,
    Kept,
    Sealed,
    Secrets,
    SystemState,
)
from services.domain.vocab import CredentialKind
from tests.fakes.tokens import TokenIssuer
from tests.integration.credentials.cluster import KEY, SOON_S, named, running, until
from tests.integration.credentials.hosts import Host, lapse_leases


@pytest.fixture
def lines() -> Iterator[list[structlog.typing.EventDict]]:
    with structlog.testing.capture_logs() as kept:
        yield kept


@pytest.mark.spec("CRD-139", "CRD-140", "CRD-152")
async def test_a_kept_pair_is_stored_by_the_next_process_and_the_old_token_not_sent_again(
    url: str, issuer: TokenIssuer, tmp_path: Path, lines: list[structlog.typing.EventDict]
) -> None:
    folder = tmp_path / "tokens"
    issuer.mark = "mark-"  # no base64 can hold it by chance
    newest = ("mark-access-2", "mark-R2")
    dying = Host(url, issuer, folder, 0.2)
    async with running(dying.service):
        dying.store.is_broken = True
        await dying.look()
        assert dying.tokens() == newest
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert b"mark-" not in file.read_bytes()
    after = Host(url, issuer, folder, 0.2)
    async with running(after.service):
        assert after.tokens() == newest
        assert named(after.service, "a").credential_version == 2
        await after.look()
    assert [one.refresh_token for one in issuer.asked] == ["R1"]
    assert list(folder.iterdir()) == []
    assert "token_recovered" in {line["event"] for line in lines}
    assert not any(text in str(lines) for text in ("mark-", "access-1"))


@pytest.mark.spec("CRD-139", "CRD-140")
async def test_a_pair_outlives_a_loss_of_power_before_the_store_or_anybody_hears_of_it(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    folder = tmp_path / "home" / "tokens"
    steps: list[tuple[bool, int, list[int], int, tuple[str, str]]] = []

    def sync(handle: int) -> None:
        status = os.fstat(handle)
        pairs = [inode(path) for path in folder.glob("*.pair")]
        is_file = stat.S_ISREG(status.st_mode) and status.st_size > 0
        steps.append((is_file, status.st_ino, pairs, len(host.store.writes), host.tokens()))

    host = Host(url, issuer, folder, 0.2, sync=sync)
    async with running(host.service):
        await host.look()
        assert host.tokens() == ("access-2", "R2")
    before, file = (0, ("access-1", "R1")), steps[2][1]
    assert steps == [
        (False, inode(folder.parent), [], *before),
        (False, inode(tmp_path), [], *before),
        (True, file, [], *before),
        (False, inode(folder), [file], *before),
    ]


@pytest.mark.spec("CRD-137", "CRD-139", "CRD-140")
async def test_a_replica_that_was_cut_off_comes_back_with_the_answer_before_another_asks(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    one, two = (Host(url, issuer, tmp_path / name, 3.0) for name in ("here", "there"))
    async with running(one.service, two.service):
        one.store.is_broken = True
        await one.look()
        await lapse_leases(url)  # the outage was longer than any lease
        work = asyncio.create_task(two.look())
        await asyncio.sleep(0.3)
        one.store.is_broken = False
        await one.look()
        await work
        assert (one.tokens(), two.tokens()) == (("access-2", "R2"), ("access-2", "R2"))
    assert [each.refresh_token for each in issuer.asked] == ["R1"]


@pytest.mark.spec("CRD-137", "CRD-142")
@pytest.mark.parametrize("has_grace", [True, False])
async def test_where_the_answer_is_lost_the_token_is_sent_once_more_and_the_truth_told(
    url: str,
    issuer: TokenIssuer,
    tmp_path: Path,
    lines: list[structlog.typing.EventDict],
    *,
    has_grace: bool,
) -> None:
    one, two = (Host(url, issuer, tmp_path / name, 0.3) for name in ("here", "there"))
    async with running(one.service, two.service):
        one.store.is_broken = True
        await one.look()
        await lapse_leases(url)
        if has_grace:
            issuer.live.add("R1")
        await two.look()
        state = named(two.service, "a").system_state
        assert state is (SystemState.OK if has_grace else SystemState.NEEDS_LOGIN)
    assert [each.refresh_token for each in issuer.asked] == ["R1", "R1"]
    told = [line["code"] for line in lines if line["event"] == "credential_needs_login"]
    assert told == ([] if has_grace else ["answer_lost"])


@pytest.mark.spec("CRD-142", "CRD-143")
@pytest.mark.parametrize("is_another", [True, False])
async def test_an_answer_that_does_not_come_back_is_told_and_remembered_and_waited_for_by_nobody(
    url: str,
    issuer: TokenIssuer,
    tmp_path: Path,
    lines: list[structlog.typing.EventDict],
    *,
    is_another: bool,
) -> None:
    one, two = (Host(url, issuer, tmp_path / name, 60.0) for name in ("here", "there"))
    async with running(one.service, two.service):
        issuer.is_dropping = True
        await one.look()
        assert named(one.service, "a").system_state is SystemState.OK
        issuer.is_dropping = False
        later = two if is_another else one
        await later.service.vault.poll()
        for is_failing in (True, False):  # a doubt outlives failures of another kind
            issuer.failure = (503, {}) if is_failing else None
            later.clock.advance(130)
            async with asyncio.timeout(SOON_S):
                await later.look()
        assert named(later.service, "a").system_state is SystemState.NEEDS_LOGIN
    assert [each.refresh_token for each in issuer.asked] == ["R1"] * 3
    codes = [line["code"] for line in lines if "code" in line]
    assert codes == ["answer_lost", "failed", "answer_lost"]


@pytest.mark.spec("CRD-142", "CRD-143")
@pytest.mark.parametrize("is_lost", [True, False])
async def test_what_became_of_a_question_is_remembered_also_where_its_failure_cannot_be_stored(
    url: str,
    issuer: TokenIssuer,
    tmp_path: Path,
    lines: list[structlog.typing.EventDict],
    *,
    is_lost: bool,
) -> None:
    host = Host(url, issuer, tmp_path, 60.0)
    async with running(host.service):
        host.store.is_broken = True
        issuer.is_dropping, issuer.failure = is_lost, None if is_lost else (503, {})
        await host.look()
        host.store.is_broken = issuer.is_dropping = False
        issuer.failure = None
        issuer.live.discard("R1")
        await host.look()
        assert named(host.service, "a").system_state is SystemState.NEEDS_LOGIN
    told = [line["code"] for line in lines if line["event"] == "credential_needs_login"]
    assert told == ["answer_lost" if is_lost else "refused"]


@pytest.mark.spec("CRD-142", "CRD-143")
async def test_a_success_without_a_token_may_have_spent_the_old_one(
    url: str, issuer: TokenIssuer, tmp_path: Path, lines: list[structlog.typing.EventDict]
) -> None:
    host = Host(url, issuer, tmp_path, 60.0)
    async with running(host.service):
        issuer.failure = (200, {"token_type": "Bearer"})
        await host.look()
        assert named(host.service, "a").system_state is SystemState.OK
        issuer.failure = (400, {"error": "invalid_grant"})
        host.clock.advance(60)
        await host.look()
        assert named(host.service, "a").system_state is SystemState.NEEDS_LOGIN
    assert [line["code"] for line in lines if "code" in line] == ["bad_answer", "answer_lost"]


@pytest.mark.spec("CRD-143")
async def test_who_was_not_there_for_the_question_is_told_as_such(
    url: str, issuer: TokenIssuer, lines: list[structlog.typing.EventDict]
) -> None:
    host = Host(url, issuer, Path("unused"), 60.0)
    async with running(host.service):
        await issuer.__aexit__()
        await host.look()
        host.clock.advance(60)
        await issuer.__aenter__()
    assert [line["code"] for line in lines if "code" in line] == ["unreachable"]


@pytest.mark.spec("CRD-137")
async def test_a_lease_that_was_given_back_leaves_no_doubt(url: str, issuer: TokenIssuer) -> None:
    host = Host(url, issuer, Path("unused"), 9.0)
    store = host.store
    async with running(host.service):
        credential_id = named(host.service, "a").id
        first = await store.take_lease(credential_id, 0.05)
        assert first is not None
        assert not first.is_orphaned
        await asyncio.sleep(0.1)
        assert not await store.extend_lease(first, 60)
        second = await store.take_lease(credential_id, 60)
        assert second is not None
        assert second.is_orphaned
        assert await store.extend_lease(second, 60)
        assert not await store.extend_lease(first, 60)
        await store.free_lease(second)
        third = await store.take_lease(credential_id, 60)
        assert third is not None
        assert not third.is_orphaned


async def test_a_disk_that_takes_nothing_stops_no_refresh(
    url: str, issuer: TokenIssuer, tmp_path: Path, lines: list[structlog.typing.EventDict]
) -> None:
    (tmp_path / "file").touch()
    host = Host(url, issuer, tmp_path / "file" / "tokens", 0.2)
    async with running(host.service):
        await host.look()
        assert host.tokens() == ("access-2", "R2")
    assert "token_journal_unavailable" in {line["event"] for line in lines}


async def test_what_is_no_pair_of_this_deployment_is_left_alone(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 0.2)
    other = AesGcmCipher((b"o" * 32,))
    await other.start()
    async with running(host.service):
        known = named(host.service, "a").id
        foreign = other.seal_secrets(Secrets("theirs", "theirs"), known, "anthropic")
        await host.files.keep(Kept(known, 1, foreign))
        await host.files.keep(Kept("somebody", 1, foreign))
        (tmp_path / "tokens" / "junk.pair").write_text("{}")
        await host.service.refresher.start()
        assert host.tokens() == ("access-1", "R1")
        assert len(await host.files.kept()) == 2
    await until(lambda: len(list((tmp_path / "tokens").iterdir())) == 3)


@pytest.mark.spec("CRD-6", "CRD-140")
@pytest.mark.parametrize("is_noted_at_start", [True, False])
async def test_of_an_account_that_was_removed_nothing_stays_on_the_disk(
    url: str, issuer: TokenIssuer, tmp_path: Path, *, is_noted_at_start: bool
) -> None:
    host = Host(url, issuer, tmp_path / "tokens", 0.2)
    async with running(host.service):
        await add(host, "ours")
        await keep_empty(host, "ours")
        await host.files.keep(Kept("theirs", 1, Sealed("key", b""), "another"))
        await host.service.operator.delete("ours", 0, "somebody")
        if not is_noted_at_start:
            await host.look()
            assert await names(host) == ["theirs"]
            await keep_empty(host, "ours")
    after = Host(url, issuer, tmp_path / "tokens", 0.2)
    async with running(after.service):
        assert await names(after) == ["theirs"]


@pytest.mark.spec("CRD-140")
async def test_a_pair_stays_on_the_disk_as_long_as_its_account_may_have_been_added_just_now(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    one, two = (Host(url, issuer, tmp_path / "tokens", 0.2) for _ in range(2))
    async with running(one.service, two.service):
        await one.look()
        await two.service.vault.poll()
        await add(one, "added")
        for name in ("added", "removed"):
            await keep_empty(one, name)
        two.service.refresher.note_removal()
        two.store.is_away = True
        await two.look()
        assert len(await names(one)) == 2
        two.store.is_away = False
        await two.look()
        assert await names(one) == ["added"]


@pytest.mark.spec("CRD-132", "CRD-135", "CRD-139")
async def test_who_lacks_a_key_never_puts_the_declared_token_over_the_newest(
    url: str, issuer: TokenIssuer, tmp_path: Path
) -> None:
    newer, older = (b"n" * 32, KEY), (KEY,)
    one = Host(url, issuer, tmp_path / "here", 0.2, newer)
    async with running(Host(url, issuer, tmp_path / "there", 0.2, older).service):
        pass  # the deployment's own key is sealed under the older one
    async with running(one.service):
        await one.look()
        assert one.tokens() == ("access-2", "R2")
    behind = Host(url, issuer, tmp_path / "there", 0.2, older)
    async with running(behind.service):
        assert named(behind.service, "a").system_state is SystemState.QUARANTINED
        await behind.look()
    again = Host(url, issuer, tmp_path / "here", 0.2, newer)
    async with running(again.service):
        assert named(again.service, "a").system_state is SystemState.OK
        assert again.tokens() == ("access-2", "R2")
    assert [each.refresh_token for each in issuer.asked] == ["R1"]


@pytest.mark.spec("CRD-137", "CRD-145")
async def test_on_sqlite_nobody_waits_for_a_process_that_died(
    tmp_path: Path, issuer: TokenIssuer, lines: list[structlog.typing.EventDict]
) -> None:
    url = f"sqlite:///{tmp_path}/credentials.db"
    dead = Host(url, issuer, tmp_path / "tokens", 0.0)
    async with running(dead.service):
        credential_id = named(dead.service, "a").id
        assert await dead.store.take_lease(credential_id, 600) is not None
    after = Host(url, issuer, tmp_path / "tokens", 0.0)
    async with running(after.service):
        async with asyncio.timeout(5):
            await after.look()
        assert after.tokens() == ("access-2", "R2")


async def add(host: Host, credential_id: str) -> None:
    """Store a credential that no file declares."""
    spec = CredentialSpec("anthropic", CredentialKind.API_KEY)
    credential = replace(named(host.service, "a"), id=credential_id, spec=spec)
    audit = AuditEntry("somebody", "create", 0)
    await host.service.vault.add(credential, Secrets(), "key", audit)


async def keep_empty(host: Host, credential_id: str) -> None:
    """Keep something that this deployment could have kept of a credential."""
    deployment = host.service.vault.hasher.shared("journal")
    await host.files.keep(Kept(credential_id, 1, Sealed("key", b""), deployment))


async def names(host: Host) -> list[str]:
    """Return the credentials of which something is kept."""
    return [one.credential_id for one in await host.files.kept()]


def inode(path: Path) -> int:
    """Return what stays the same of a file when it is renamed."""
    return path.stat().st_ino
