"""Deployments that several tests of a module share, on a loop that lives as long.

A module's `WISHES`, or its fixture `wishes`, are what its deployments have beside the plain
configuration.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.e2e import deployments
from tests.e2e.deployments import Deployment
from tests.e2e.families import four_families
from tests.e2e.settings import Wishes
from tests.fakes.postgres import Postgres
from tests.fakes.upstream import FakeUpstream


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[FakeUpstream]:
    """Give a provider for the whole module; `clear` it before use."""
    async with FakeUpstream() as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(
    provider: FakeUpstream, wishes: Wishes, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    home = tmp_path_factory.mktemp("home")
    async with deployments.embedded(home, provider, wishes) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def apart(
    provider: FakeUpstream,
    wishes: Wishes,
    module_database: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Deployment]:
    home = tmp_path_factory.mktemp("home")
    async with deployments.apart(home, provider, module_database, wishes) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def families(
    provider: FakeUpstream, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Deployment]:
    """Give a deployment with a provider and a model of each family."""
    wishes = four_families(provider.base_url)
    async with deployments.embedded(tmp_path_factory.mktemp("home"), provider, wishes) as running:
        yield running


@pytest.fixture(params=["embedded", "apart"])
def deployment(request: pytest.FixtureRequest) -> Deployment:
    """Give the deployment in one process, then the one in several."""
    running = request.getfixturevalue(request.param)
    assert isinstance(running, Deployment)
    return running


@pytest.fixture(scope="module")
def module_database(postgres_server: Postgres) -> Iterator[str]:
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture(scope="module")
def wishes(request: pytest.FixtureRequest) -> Wishes:
    """Give what the module's deployments have beside the plain configuration."""
    wishes = getattr(request.module, "WISHES", None)
    return wishes if isinstance(wishes, Wishes) else Wishes()
