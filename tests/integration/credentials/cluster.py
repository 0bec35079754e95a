"""Replicas of the credentials service over one store, as several processes would be."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.adapters.valkey import ValkeyShared
from services.credentials.model import (
    BindingRef,
    Credential,
    CredentialSpec,
    EndKind,
    Grant,
    Origin,
    Phase,
    Query,
    Report,
    Secrets,
)
from services.credentials.policy.declared import Declared
from services.credentials.policy.evidence import Rules
from services.credentials.server import Options, Service
from services.domain.errors import Reason, RouterError
from services.domain.vocab import CredentialKind, WireFamily
from services.runtime.clock import Clock
from tests.fakes.clock import FakeClock

KEY = b"k" * 32
FAMILIES = {"anthropic": WireFamily.ANTHROPIC, "openai": WireFamily.OPENAI_CHAT}
OPTIONS = Options(families=FAMILIES, rules=Rules(families=FAMILIES), poll_s=0)
TENANT = "11111111-2222-4333-8444-555555555555"
SOON_S = 5.0

_numbers = itertools.count(1)


def account(
    label: str,
    *,
    kind: CredentialKind = CredentialKind.CLAUDE_OAUTH,
    provider: str = "anthropic",
    **spec: object,
) -> Declared:
    """Return an account of the pool."""
    base = CredentialSpec(provider, kind, label=label)
    settings = replace(base, **spec)  # type: ignore[arg-type]  # tests name any field
    return Declared(settings, Secrets(value=f"secret-of-{label}"), Origin.POOL)


def replica(
    url: str, pool: Sequence[Declared], clock: Clock, valkey_url: str = "", **options: object
) -> Service:
    """Return one replica, not yet started."""
    told = replace(OPTIONS, declared=tuple(pool), **options)  # type: ignore[arg-type]  # any option
    shared = ValkeyShared(valkey_url, call_timeout_s=SOON_S) if valkey_url else Alone()
    return Service(
        SqlStore(url),
        AesGcmCipher((KEY,)),
        told,
        clock,
        shared,
        HttpTokenEndpoint(),
        NoTokenFiles(),
    )


@contextlib.asynccontextmanager
async def running(*replicas: Service) -> AsyncIterator[tuple[Service, ...]]:
    """Start replicas one after the other, and close them."""
    started: list[Service] = []
    try:
        for one in replicas:
            await one.start()
            started.append(one)
        yield replicas
    finally:
        for one in started:
            await one.aclose()


def asked(
    *,
    model: str = "m",
    provider: str = "anthropic",
    session: bytes = b"",
    action_id: str = "",
    **more: object,
) -> Query:
    """Return a question of an action of its own."""
    name = action_id or f"a{next(_numbers)}"
    query = Query(name, TENANT, f"{name}/1", (BindingRef(model, provider),), session_key=session)
    return replace(query, **more)  # type: ignore[arg-type]  # tests name any field


async def picked(one: Service, **more: object) -> Grant:
    """Return the grant that a replica gives."""
    selected, _ = await one.select(asked(**more))  # type: ignore[arg-type]  # any argument
    return selected.grant


def named(one: Service, label: str) -> Credential:
    """Return a credential by its label, as a replica knows it."""
    return next(c for c in one.vault.pool.by_id.values() if c.spec.label == label)


def label_of(one: Service, credential_id: str) -> str:
    """Return the label of a credential."""
    return one.vault.pool.by_id[credential_id].spec.label


def told(
    clock: FakeClock,
    credential_id: str,
    status: int | None,
    *headers: tuple[str, str],
    grant_id: str = "",
    model: str = "m",
    **more: object,
) -> Report:
    """Return a report of headers that came now, of a request sent now."""
    now = clock.now_unix_s()
    number = next(_numbers)
    base = Report(
        grant_id or f"g{number}",
        f"a{number}",
        1,
        number,
        Phase.HEADERS,
        credential_id=credential_id,
        model_id=model,
        http_status=status,
        headers=headers,
        send_unix_s=now,
        observe_unix_s=now,
    )
    return replace(base, **more)  # type: ignore[arg-type]  # tests name any field


def ended(
    clock: FakeClock, credential_id: str, status: int | None, body: bytes = b"", **more: object
) -> Report:
    """Return a report of an end."""
    kind = EndKind.SUCCEEDED if status == 200 else EndKind.FAILED
    parts = {"phase": Phase.ENDED, "end_kind": kind, "error_body": body, **more}
    return told(clock, credential_id, status, **parts)  # type: ignore[arg-type]  # any field


async def until(is_so: Callable[[], bool], within_s: float = SOON_S) -> None:
    """Return when something has become true; fail when it has not in time."""
    async with asyncio.timeout(within_s):
        while not is_so():  # noqa: ASYNC110 - what is waited for happens in another replica
            await asyncio.sleep(0.005)


async def attempt(one: Service, reason: Reason, **more: object) -> Grant | None:
    """Return the grant that a replica gives; None: it refuses for the one reason that may be."""
    try:
        return await picked(one, **more)
    except RouterError as error:
        if error.reason is not reason:
            raise
        return None
