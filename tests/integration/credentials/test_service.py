"""The service over real stores: restarts, replicas, keys, and secrets that stay inside."""

from __future__ import annotations

import asyncio
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa
import structlog
from pydantic import ValidationError

from services.credentials.adapters import tables
from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.keys import parse_keys
from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS, SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.build import build, declared_pool
from services.credentials.codec.operator import Creation, Update
from services.credentials.model import (
    CoolingPolicy,
    Credential,
    CredentialSpec,
    Mark,
    MarkKind,
    Origin,
    OveragePolicy,
    Secrets,
    SystemState,
)
from services.credentials.policy.declared import Declared
from services.credentials.server import Options, Service
from services.credentials.settings import CredentialsSettings
from services.domain.catalog import build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, WireFamily
from services.runtime import database
from services.runtime.channel import Channel
from services.runtime.config import ConfigError
from services.runtime.host import Bundle
from services.runtime.launch import StartError
from services.runtime.providers import providers_of
from services.runtime.settings import CommonSettings
from tests.fakes.clock import FakeClock
from tests.unit.credentials.cases import report

KEY, OTHER = b"k" * 32, b"o" * 32
OPTIONS = Options(families={"anthropic": WireFamily.ANTHROPIC}, poll_s=0)


def declared(label: str = "a", value: str = "canary-secret", **spec: object) -> Declared:
    base = CredentialSpec("anthropic", CredentialKind.API_KEY, label=label)
    settings = replace(base, **spec)  # type: ignore[arg-type]  # tests name any field
    return Declared(settings, Secrets(value=value), Origin.POOL)


def service(
    url: str, *pool: Declared, keys: tuple[bytes, ...] = (KEY,), clock: FakeClock | None = None
) -> Service:
    options = replace(OPTIONS, declared=pool)
    return Service(
        SqlStore(url),
        AesGcmCipher(keys),
        options,
        clock or FakeClock(),
        Alone(),
        HttpTokenEndpoint(),
        NoTokenFiles(),
    )


async def mark(one: Service, credential_id: str, model: str) -> None:
    def edit(current: Credential) -> Credential:
        made = Mark(MarkKind.QUOTA, 1.0, 9e9, model_id=model)
        kept = tuple(m for m in current.marks if m.key != made.key)
        return replace(current, marks=(*kept, made))

    await one.vault.change(credential_id, edit)


@pytest.mark.spec("CRD-118", "CRD-120", "CRD-121")
async def test_replicas_that_write_at_once_lose_nothing(url: str) -> None:
    one, two = service(url, declared()), service(url, declared())
    await one.start()
    await two.start()
    (credential_id,) = one.vault.pool.by_id
    await asyncio.gather(*(mark((one, two)[n % 2], credential_id, f"m{n}") for n in range(12)))
    await one.vault.poll()
    await two.vault.poll()
    for replica in (one, two):
        marks = replica.vault.pool.by_id[credential_id].marks
        assert {m.model_id for m in marks} == {f"m{n}" for n in range(12)}
    assert one.vault.pool == two.vault.pool
    await one.aclose()
    await two.aclose()


async def test_replicas_that_start_at_once_make_one_pool(url: str) -> None:
    pool = [declared(label) for label in "abc"]
    replicas = [service(url, *pool) for _ in range(3)]
    if url.startswith("sqlite"):
        await replicas[0].start()
        await asyncio.gather(*(one.start() for one in replicas[1:]))
    else:
        await asyncio.gather(*(one.start() for one in replicas))
    pools = [one.vault.pool.by_id for one in replicas]
    assert pools[0] == pools[1] == pools[2]
    assert len(pools[0]) == 3
    assert len({one.fingerprint for one in pools[0].values()}) == 3
    for one in replicas:
        await one.aclose()


async def test_closing_never_waits_for_a_watch_that_is_about_to_wake(tmp_path: Path) -> None:
    for steps in range(8):
        one = service(f"sqlite:///{tmp_path}/credentials.db", declared())
        await one.start()
        one.eligibility.touch()
        for _ in range(steps):
            await asyncio.sleep(0)
        closing = asyncio.create_task(one.aclose())
        done, _ = await asyncio.wait({closing}, timeout=2)
        assert done, f"{steps} steps after the change"


@pytest.mark.spec("CRD-6")
async def test_edits_of_the_pool_keep_identity_and_marks_over_restarts(url: str) -> None:
    first = service(url, declared("a"), declared("b"))
    await first.start()
    (a_id,) = [c.id for c in first.vault.pool.by_id.values() if c.spec.label == "a"]
    await mark(first, a_id, "m")
    fingerprint = first.vault.pool.by_id[a_id].fingerprint
    await first.aclose()
    second = service(url, declared("a", value="canary-new", priority=4))
    await second.start()
    (only,) = second.vault.pool.by_id.values()
    assert (only.id, only.fingerprint, only.spec.priority) == (a_id, fingerprint, 4)
    assert [m.model_id for m in only.marks] == ["m"]
    assert only.credential_version == 2
    assert second.vault.secrets_of(a_id) == Secrets(value="canary-new")
    await second.aclose()


@pytest.mark.spec("CRD-7")
async def test_what_was_changed_while_running_is_the_same_after_a_restart(url: str) -> None:
    first = service(url)
    await first.start()
    made = await first.operator.create(
        Creation("k", CredentialSpec("anthropic", CredentialKind.API_KEY), Secrets("x"), "ann")
    )
    spec = replace(made.spec, model_ids=("m1",), priority=2)
    changed = frozenset({"model_ids", "priority"})
    await first.operator.update(Update(made.id, 0, spec, changed, Secrets("y"), "ann"))
    before, secrets = first.vault.pool, first.vault.secrets_of(made.id)
    await first.aclose()
    second = service(url)
    await second.start()
    assert second.vault.pool == before
    assert second.vault.secrets_of(made.id) == secrets == Secrets("y")
    await second.aclose()


@pytest.mark.spec("OPS-7")
async def test_secrets_are_sealed_for_their_row_under_the_first_key(url: str) -> None:
    first = service(url)
    await first.start()
    for name in ("one", "two"):
        spec = CredentialSpec("anthropic", CredentialKind.API_KEY, label=name)
        await first.operator.create(Creation(name, spec, Secrets(f"canary-{name}"), "ann"))
    ids = list(first.vault.pool.by_id)
    store = SqlStore(url)
    async with store._engine.begin() as connection:
        table = tables.credentials
        rows = (await connection.execute(sa.select(table))).mappings().all()
        assert all(b"canary" not in row["ciphertext"] for row in rows)
        moved = next(row["ciphertext"] for row in rows if row["id"] == ids[0])
        await connection.execute(
            sa.update(table).where(table.c.id == ids[1]).values(ciphertext=moved)
        )
    await store.aclose()
    await first.aclose()
    rotated = service(url, keys=(OTHER, KEY))
    await rotated.start()
    states = {c.id: c.system_state for c in rotated.vault.pool.by_id.values()}
    assert states == {ids[0]: SystemState.OK, ids[1]: SystemState.QUARANTINED}
    await rotated.aclose()


async def test_a_lost_key_stops_the_start_and_says_what_to_do(url: str) -> None:
    first = service(url, declared())
    await first.start()
    await first.aclose()
    second = service(url, keys=(OTHER,))
    with pytest.raises(StartError, match="encryption_keys"):
        await second.start()
    await second.aclose()


async def test_sqlite_makes_a_private_key_beside_itself(tmp_path: Path) -> None:
    path = tmp_path / "made" / "credentials.db"
    for _ in range(2):
        bundle = built(f"sqlite:///{path}")
        await bundle.start()
        assert bundle.readiness() == {"store": True, "upkeep": True, "clock": True}
        await bundle.aclose()
    modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in path.parent.iterdir()}
    assert modes == {"credentials.db": 0o600, "credentials.key": 0o600}


def test_postgresql_without_keys_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match=r"services\.credentials\.encryption_keys"):
        built("postgresql://u:canary@127.0.0.1:1/x")
    with pytest.raises(ConfigError, match=r"encryption_keys\.1") as caught:
        parse_keys(["00" * 32, "canary-key"])
    assert "canary" not in str(caught.value)


async def test_a_store_that_is_down_leaves_the_pool_and_keeps_reports_repeatable(
    postgres_url: str,
) -> None:
    await database.migrate(postgres_url, SCRIPTS, SCHEMA)
    one = service(postgres_url, declared())
    await one.start()
    (credential_id,) = one.vault.pool.by_id
    refused = report(401, credential_id=credential_id)
    store = SqlStore(postgres_url)
    async with store._engine.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE credentials RENAME TO away"))
    with pytest.raises(RouterError) as caught:
        await one.reports.apply(refused)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    assert list(one.vault.pool.by_id) == [credential_id]
    async with store._engine.begin() as connection:
        await connection.execute(sa.text("ALTER TABLE away RENAME TO credentials"))
    await store.aclose()
    outcome, changes = await one.reports.apply(refused)
    assert (outcome.value, len(changes)) == ("grant_unknown", 1)
    await one.aclose()


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Give everything that is logged, as text."""
    kept: list[str] = []

    def keep(_: object, __: str, event: object) -> str:
        kept.append(repr(event))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep], cache_logger_on_first_use=False)
    yield kept
    structlog.configure(**before)


@pytest.mark.spec("CRD-47", "CRD-152")
async def test_secrets_labels_and_ids_stay_out_of_logs(url: str, lines: list[str]) -> None:
    one = service(url, declared("canary-label", account="canary@example.com"))
    await one.start()
    (credential,) = one.vault.pool.by_id.values()
    for status in (401, 402, 429, 500):
        await one.reports.apply(report(status, credential_id=credential.id, sequence_number=status))
    await one.operator.reset(credential.id, "", "ann")
    with pytest.raises(RouterError) as caught:
        await one.operator.create(
            Creation(
                "k",
                replace(credential.spec, label=""),
                Secrets(value="canary-secret"),
                "ann",
            )
        )
    await one.aclose()
    text = "\n".join(lines)
    assert "credential_mark_set" in text
    assert "credential_mark_cleared" in text
    assert credential.fingerprint in text
    for said in (text, str(caught.value), repr(one.vault.pool), repr(caught.value.metadata)):
        assert "canary" not in said
    assert credential.id not in text


async def test_a_pool_is_read_from_configuration() -> None:
    common = CommonSettings.model_validate(
        {
            "providers": {
                "anthropic": {"api_key": " key "},
                "openai": {},
                "local": {"family": "openai_chat", "base_url": "http://127.0.0.1:9/v1"},
            },
            "credentials": [
                {
                    "provider": "anthropic",
                    "kind": "claude_oauth",
                    "secret": "access",
                    "refresh_token": "refresh",
                    "expires_at": "2030-01-01T00:00:00Z",
                    "priority": 7,
                },
            ],
        }
    )
    pool = declared_pool(common, providers_of(common))
    kinds = [(one.spec.provider, one.spec.kind, one.origin) for one in pool]
    assert kinds == [
        ("anthropic", CredentialKind.API_KEY, Origin.PROVIDER_KEY),
        ("local", CredentialKind.NONE, Origin.PROVIDER_KEY),
        ("anthropic", CredentialKind.CLAUDE_OAUTH, Origin.POOL),
    ]
    assert pool[0].secrets.value == "key"
    assert pool[2].secrets.expire_unix_s == 1_893_456_000.0
    assert pool[2].spec.priority == 7


@pytest.mark.spec("CRD-11", "CRD-29", "CRD-49", "CRD-61", "CRD-76")
def test_every_setting_of_a_pool_entry_is_taken() -> None:
    entry = {
        "provider": "anthropic",
        "kind": "gateway",
        "secret": "key",
        "installation": "t1",
        "weight": 3,
        "models": ["a"],
        "excluded_models": ["b*"],
        "aliases": {"a": "their-a"},
        "base_url": "https://gateway.example/",
        "model_prefix": "team",
        "max_in_flight": 4,
        "model_max_in_flight": 2,
        "overage": "deny",
        "cooling": "off",
        "window_scope": {"7d_oi": "family"},
        "unified_headers": True,
        "enabled": False,
        "proxy": "http://proxy.example:3128",
        "headers": {"X-Team": "canary"},
    }
    common = CommonSettings.model_validate({"credentials": [entry]})
    (one,) = declared_pool(common, providers_of(common))
    assert one.spec == CredentialSpec(
        "anthropic",
        CredentialKind.GATEWAY,
        "t1",
        is_enabled=False,
        priority=None,
        weight=3,
        model_ids=("a",),
        excluded_model_patterns=("b*",),
        upstream_id_by_model=(("a", "their-a"),),
        model_prefix="team",
        base_url="https://gateway.example",
        max_in_flight=4,
        max_in_flight_per_model=2,
        overage=OveragePolicy.DENY,
        cooling=CoolingPolicy.OFF,
        is_overage_window_family_scoped=True,
        is_quota_header_trusted=True,
        order=1,
    )
    assert one.secrets.proxy_url == "http://proxy.example:3128"
    assert one.secrets.headers == (("x-team", "canary"),)
    assert "canary" not in repr(common) + repr(one)


@pytest.mark.parametrize(
    "wrong",
    [
        {"priority": "high"},
        {"priority": 1.5},
        {"weight": -1},
        {"window_scope": {"5h": "family"}},
        {"window_scope": {"7d_oi": "some"}},
        {"cooling": "maybe"},
        {"model_prefix": "a/b"},
    ],
)
@pytest.mark.spec("CRD-11")
def test_a_bad_setting_of_a_pool_entry_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        CommonSettings.model_validate({"credentials": [{"provider": "anthropic", **wrong}]})


@pytest.mark.spec("CRD-133")
async def test_a_newer_programs_settings_survive_an_older_ones_writes(url: str) -> None:
    first = service(url, declared())
    await first.start()
    (credential_id,) = first.vault.pool.by_id
    store = SqlStore(url)
    async with store._engine.begin() as connection:
        table = tables.credentials
        text = (await connection.execute(sa.select(table.c.settings))).scalar_one()
        newer = text.replace("{", '{"brand_new": {"a": 1}, ', 1)
        await connection.execute(sa.update(table).values(settings=newer))
    await first.vault.reload()
    await mark(first, credential_id, "m")
    async with store._engine.begin() as connection:
        kept = (await connection.execute(sa.select(tables.credentials.c.settings))).scalar_one()
    assert '"brand_new":{"a":1}' in kept
    await store.aclose()
    await first.aclose()


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"provider": "anthropic"}, r"credentials\.0\.secret"),
        ({"provider": "anthropic", "kind": "gateway", "secret": "x"}, r"credentials\.0\.base_url"),
        ({"provider": "acne", "secret": "x"}, r"credentials\.0\.provider"),
    ],
)
def test_a_bad_entry_is_named(entry: dict[str, str], complaint: str) -> None:
    common = CommonSettings.model_validate({"credentials": [entry]})
    with pytest.raises(ConfigError, match=complaint):
        declared_pool(common, providers_of(common))


def built(url: str) -> Bundle:
    def no_peer(name: str) -> Channel:
        raise AssertionError(name)

    return build(
        CredentialsSettings(database=url, poll_seconds=0),
        CommonSettings(),
        catalog=build_catalog([]),
        clock=FakeClock(),
        channel_to=no_peer,
    )
