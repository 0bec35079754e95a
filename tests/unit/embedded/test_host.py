"""When the sandbox starts, how the process drains, what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.first_key import FirstKey
from services.domain.catalog import build_catalog
from services.embedded import host, welcome
from services.embedded.sandbox import catalog as sandbox
from services.embedded.settings import Settings
from services.runtime.edge import Listening

POOL = {"credentials": [{"provider": "openai", "secret": "x"}]}
LOCAL = {"providers": {"acme": {"family": "openai_chat", "base_url": "http://127.0.0.1:1/v1"}}}
OPEN = {"gateway": {"listen": "0.0.0.0:8080", "bootstrap_key": "rk_" + "a" * 32}}


def settings(tables: object) -> Settings:
    return Settings.model_validate(tables)


@pytest.mark.parametrize(
    ("tables", "expected"),
    [
        ({}, True),
        ({"providers": {"openai": {"api_key": ""}}}, True),
        ({"providers": {"openai": {"api_key": "x"}}}, False),
        (LOCAL, False),
        (POOL, False),
        (OPEN, False),
        ({"gateway": {"listen": "[::1]:0"}}, True),
    ],
)
def test_the_sandbox_starts_only_when_nothing_can_serve_and_nobody_else_can_ask(
    tables: object, expected: bool
) -> None:
    assert host.wants_sandbox(settings(tables)) is expected


def test_the_process_drains_for_ten_seconds_unless_told() -> None:
    options = host.edge_options(settings({}))
    assert (options.lame_duck_s, options.drain_s) == (0.0, 10.0)
    told = {"gateway": {"drain_seconds": 3, "lame_duck_seconds": 1}}
    options = host.edge_options(settings(told))
    assert (options.lame_duck_s, options.drain_s) == (1.0, 3.0)


@pytest.mark.spec("OPS-115")
def test_the_welcome_names_address_model_and_where_the_key_is() -> None:
    said = welcome.text(
        settings(LOCAL),
        build_catalog([sandbox.document(), acme()]),
        Listening(1234, 5678),
        first_key=FirstKey("rk_canary", Path("/a b/first")),
        is_sandboxed=False,
    )
    for path in ("v1/messages", "v1/chat/completions", "v1/responses"):
        assert f"curl http://127.0.0.1:1234/{path} " in said
    assert "curl http://127.0.0.1:1234/v1beta/models/acme-1:generateContent " in said
    assert "pointsman client install claude-code --server http://127.0.0.1:1234 " in said
    assert '"model":"acme-1"' in said
    assert "export POINTSMAN_KEY=$(cat '/a b/first')" in said
    assert "SANDBOX" not in said
    assert "canary" not in said


def test_the_welcome_of_an_open_address_can_be_pasted_on_this_machine() -> None:
    said = welcome.text(
        settings(OPEN),
        build_catalog([sandbox.document()]),
        Listening(8080, 9090),
        first_key=None,
        is_sandboxed=True,
    )
    assert "http://127.0.0.1:8080" in said
    assert "POINTSMAN_KEY=$POINTSMAN_BOOTSTRAP_KEY" in said
    assert "SANDBOX" in said


def acme() -> dict[str, object]:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
    return {"models": [{"id": "acme-1", "bindings": [{"provider": "acme", **price}]}]}
