"""Deployments that several tests of a module share, on a loop that lives as long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.fakes.postgres import Postgres
from tests.fakes.upstream import FakeUpstream


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[FakeUpstream]:
    """Give a provider for the whole module; `clear` it before use."""
    async with FakeUpstream() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(
    provider: FakeUpstream, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    async with deployments.embedded(_home(tmp_path_factory), provider) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def apart(
    provider: FakeUpstream, module_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    home = _home(tmp_path_factory)
    async with deployments.apart(home, provider, module_database) as running:
        yield running


@pytest.fixture(scope="module")
def module_database(postgres_server: Postgres) -> Iterator[str]:
    with postgres_server.fresh_database() as url:
        yield url


def _home(factory: pytest.TempPathFactory) -> Path:
    return factory.mktemp("home")
