"""Clients whose base address has a version too many or too few are told which path is there."""

from __future__ import annotations

import pytest

from tests.integration.gateway.conftest import Stack


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("/chat/completions", "/v1/chat/completions"),
        ("/responses", "/v1/responses"),
        ("/v1/v1/messages", "/v1/messages"),
        ("/v1/v1beta/models/m:generateContent", "/v1beta/models/m:generateContent"),
    ],
)
async def test_a_wrong_base_address_is_told_by_the_path_that_is_there(
    stack: Stack, asked: str, meant: str
) -> None:
    async with stack.session.post(asked, json={}) as got:
        assert got.status == 404
        message = (await got.json())["error"]["message"]
    assert message == f"no route {asked}: its base address should lead this client to {meant}"


async def test_a_path_that_nobody_means_is_only_refused(stack: Stack) -> None:
    async with stack.session.post("/v1/embeddings", json={}) as got:
        assert (await got.json())["error"]["message"] == "no route /v1/embeddings"
