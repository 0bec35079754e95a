"""A gateway over real HTTP, with scripted peers behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from pydantic import SecretStr

from gateway.build import Gateway
from gateway.decider import Sources
from gateway.eligibility import Policy
from gateway.model import BindingRef, Head, Strategy, StreamFailure, Tail
from gateway.office.ports import Pool
from gateway.remembering import Remembering
from gateway.serving import Deciding
from gateway.sessions.memory import Sessions
from gateway.settings import GatewaySettings
from gateway.showing import Showing
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.model import StopReason, Usage
from services.runtime.clock import SystemClock
from tests.fakes.explaining import FakePreviews, requested
from tests.fakes.ledger import MemoryLedgerStore, book_in
from tests.fakes.ports import FakeCredentials, FakeDispatch, MemoryKeyStore
from tests.fakes.sessions import MemorySessionStore

ADMIN = "admin-token-of-tests"
KEY = "rk_test_0123456789abcdefghij"

CATALOG_ROWS = [
    {
        "id": "claude-large",
        "context_window": 200_000,
        "bindings": [
            {"provider": "acme", "input_usd_per_mtok": 3.0, "output_usd_per_mtok": 15.0},
            {"provider": "globex", "input_usd_per_mtok": 3.0, "output_usd_per_mtok": 15.0},
        ],
    },
    {
        "id": "tiny",
        "context_window": 100,
        "image_input": False,
        "bindings": [
            {"provider": "acme", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0},
        ],
    },
    {
        "id": "orphan",
        "bindings": [
            {"provider": "nowhere", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0},
        ],
    },
]


def catalog() -> Catalog:
    return build_catalog([{"models": CATALOG_ROWS}])


def head(family: WireFamily, *, is_stream: bool = True, **changes: object) -> Head:
    facts: dict[str, object] = {
        "binding": BindingRef("claude-large", "acme", "claude-large", 0, 200_000),
        "wire_family": family,
        "http_status": 200,
        "headers": (("content-type", "text/event-stream" if is_stream else "application/json"),),
        "is_stream": is_stream,
        "planned_provider": "acme",
    }
    return Head(**{**facts, **changes})  # type: ignore[arg-type]  # facts by name


def tail(failure: StreamFailure | None = None) -> Tail:
    return Tail(Usage(fresh_input=7, output=3), StopReason.END_TURN, failure)


def remembering_in(store: MemorySessionStore) -> Remembering:
    return Remembering(store, Sessions(store, SystemClock(), is_shared=False))


@dataclass
class Stack:
    """A running gateway and all that stands around it."""

    journal: Path
    ledger: MemoryLedgerStore = field(default_factory=MemoryLedgerStore)
    credentials: FakeCredentials = field(default_factory=FakeCredentials)
    dispatch: FakeDispatch = field(default_factory=FakeDispatch)
    store: MemoryKeyStore = field(default_factory=MemoryKeyStore)
    settings: GatewaySettings = field(
        default_factory=lambda: GatewaySettings(
            listen="127.0.0.1:0",
            bootstrap_key=SecretStr(KEY),
            admin_token=SecretStr(ADMIN),
            sse_keepalive_interval_seconds=0.1,
            client_write_timeout_seconds=1.0,
            max_body_bytes=64 * 1024,
        )
    )
    policy: Policy = field(
        default_factory=lambda: Policy("cfg", ("acme",), known_providers=("acme", "globex"))
    )

    catalog: Catalog = field(default_factory=catalog)
    deciding: Deciding | None = None
    remembering: Remembering = field(default_factory=lambda: remembering_in(MemorySessionStore()))
    pool: Pool | None = None

    async def start(self) -> None:
        sources = Sources(self.credentials, self.policy, self.catalog, SystemClock())
        self.gateway = Gateway(
            self.settings,
            sources,
            store=self.store,
            ledger=book_in(self.journal, self.catalog, self.ledger),
            dispatch=self.dispatch,
            remembering=self.remembering,
            showing=Showing(
                sources,
                self.settings.model_copy(update={"rpc_listen": ""}),
                Strategy.REQUESTED,
                requested(sources),
                FakePreviews(),
            ),
            deciding=self.deciding,
            pool=self.pool,
        )
        await self.gateway.start()
        self.session = aiohttp.ClientSession(
            f"http://127.0.0.1:{self.gateway.port}",
            headers={"authorization": f"Bearer {KEY}"},
            timeout=aiohttp.ClientTimeout(total=10),
        )

    async def aclose(self) -> None:
        await self.session.close()
        await self.gateway.aclose()


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[Stack]:
    running = Stack(tmp_path / "ledger")
    await running.start()
    yield running
    await running.aclose()
