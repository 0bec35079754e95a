"""Fixtures that any test may ask for: a provider, and real stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.fakes.clock import FakeClock
from tests.fakes.postgres import Postgres, running_postgres
from tests.fakes.upstream import FakeUpstream
from tests.fakes.valkey import Valkey, running_valkey

# The machine is shared and its speed says nothing of the product; the seed is fixed so that a red
# run can be had again.
settings.register_profile(
    "pointsman", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("pointsman")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def upstream() -> AsyncIterator[FakeUpstream]:
    async with FakeUpstream() as running:
        yield running


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Postgres) -> Iterator[str]:
    """Give the URL (`postgresql+asyncpg://…`) of a database that no other test sees."""
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
def valkey_server() -> Iterator[Valkey]:
    with running_valkey() as server:
        yield server


@pytest.fixture
def valkey_url(valkey_server: Valkey) -> str:
    """Give the URL (`redis://…`) of an empty Valkey."""
    valkey_server.flush()
    return valkey_server.url
