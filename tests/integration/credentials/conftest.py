"""Where credentials are stored, and who issues their tokens."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from services.credentials.adapters.store_sql import SCHEMA, SCRIPTS
from services.runtime import database
from tests.fakes.tokens import TokenIssuer


@pytest.fixture(params=["sqlite", "postgresql"])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/credentials.db"
    found: str = request.getfixturevalue("postgres_url")
    await database.migrate(found, SCRIPTS, SCHEMA)
    return found


@pytest.fixture
async def issuer() -> AsyncIterator[TokenIssuer]:
    async with TokenIssuer() as ready:
        yield ready
