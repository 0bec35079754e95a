"""A configuration with one custom provider and one model, and programs that serve it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.process import RunningProcess
from tests.fakes.upstream import FakeUpstream
from tests.integration.cli.pointsman import command

START_S = 25.0
TOKEN = "rk_0123456789abcdef01234567"
CATALOG = """
[[models]]
id = "acme-large"
[[models.bindings]]
provider = "acme"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
"""


def configured(home: Path, upstream: FakeUpstream) -> None:
    """Write the configuration into ``home``."""
    (home / "acme.toml").write_text(CATALOG)
    (home / "pointsman.toml").write_text(
        '[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\n'
        'rpc_listen = "127.0.0.1:0"\n'
        '[routing]\nstrategy = "requested"\n'
        '[catalog]\nextend = ["acme.toml"]\n'
        '[services.credentials]\nlisten = "127.0.0.1:0"\n'
        '[services.dispatch]\nlisten = "127.0.0.1:0"\n'
        f'[providers.acme]\nfamily = "openai_chat"\nbase_url = "{upstream.base_url}/v1"\n'
        'api_key = "canary-upstream-key"\n'
    )


def served(home: Path, part: str, env: Mapping[str, str]) -> RunningProcess:
    """Return ``pointsman serve`` of one part, or of everything, with that environment alone."""
    removed = dict.fromkeys(name for name in os.environ if name not in env)
    arguments = ("serve", part) if part else ("serve",)
    return RunningProcess(command(*arguments), env={**removed, **env}, cwd=home)
