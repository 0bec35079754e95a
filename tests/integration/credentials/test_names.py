"""A grant names its model as the endpoint of its credential does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.credentials.model import BindingRef
from services.domain.vocab import CredentialKind
from tests.fakes.clock import FakeClock
from tests.integration.credentials.cluster import account, picked, replica, running

ALIAS = (("m", "their-m"),)


@pytest.mark.parametrize(
    ("spec", "model_id", "named"),
    [
        ({}, "m", "as-planned"),
        ({"upstream_id_by_model": ALIAS}, "m", "their-m"),
        ({"upstream_id_by_model": ALIAS}, "m (high)", "their-m"),
        ({"upstream_id_by_model": ALIAS}, "another", "as-planned"),
        ({"model_prefix": "team"}, "m", "as-planned"),
        ({"model_prefix": "team"}, "team/m", "as-planned"),
        ({"model_prefix": "team", "upstream_id_by_model": ALIAS}, "team/m", "their-m"),
    ],
)
async def test_an_alias_of_the_credential_outranks_the_planned_name(
    tmp_path: Path, clock: FakeClock, spec: dict[str, Any], model_id: str, named: str
) -> None:
    made = account("a", kind=CredentialKind.API_KEY)
    pool = [replace(made, spec=replace(made.spec, **spec))]
    asked = BindingRef(model_id, "anthropic", upstream_id="as-planned")
    async with running(replica(f"sqlite:///{tmp_path}/credentials.db", pool, clock)) as (one,):
        grant = await picked(one, bindings=(asked,))
    assert grant.binding == replace(asked, upstream_id=named)


async def test_a_namespace_is_no_part_of_the_name_at_the_endpoint(
    tmp_path: Path, clock: FakeClock
) -> None:
    pool = [account("a", kind=CredentialKind.API_KEY, model_prefix="team")]
    asked = BindingRef("team/m", "anthropic", upstream_id="team/m")
    async with running(replica(f"sqlite:///{tmp_path}/credentials.db", pool, clock)) as (one,):
        grant = await picked(one, bindings=(asked,))
    assert grant.binding.upstream_id == "m"
