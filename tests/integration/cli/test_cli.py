"""The command line: exit codes, one line per failure, JSON where asked."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from services.cli.__main__ import run
from tests.integration.cli.pointsman import Outcome, pointsman

QUIET = (
    '[gateway]\nlisten = "127.0.0.1:0"\nops_listen = "127.0.0.1:0"\nrpc_listen = "127.0.0.1:0"\n'
)


def configured(home: Path, text: str) -> Path:
    file = home / "pointsman.toml"
    file.write_text(text)
    return file


Inline = Callable[..., Outcome]


@pytest.fixture
def inline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Inline:
    """Give the command without a process of its own: quick, and the same but for the exit."""
    for name in list(os.environ):
        if name.startswith("POINTSMAN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str, **env: str) -> Outcome:
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        code = run(list(arguments))
        written = capsys.readouterr()
        return Outcome(code, written.out, written.err)

    return command


def test_version_names_the_contract(tmp_path: Path) -> None:
    done = pointsman(tmp_path, "version", "--json")
    assert done.code == 0
    assert set(json.loads(done.out)) == {"version", "proto_digest"}


@pytest.mark.parametrize(
    "arguments", [("srve",), ("serve", "nobody"), ("serve", "--conf", "x"), ("keys", "create")]
)
def test_wrong_usage_exits_2_with_one_line(inline: Inline, arguments: tuple[str, ...]) -> None:
    done = inline(*arguments)
    assert done.code == 2
    assert done.error.startswith("error: ")


def test_wrong_usage_names_the_help_of_the_command_that_was_meant(inline: Inline) -> None:
    assert "; `pointsman keys create --help`" in inline("keys", "create").error


@pytest.mark.spec("OPS-95")
def test_an_unknown_key_exits_2_and_names_file_key_and_the_nearest(tmp_path: Path) -> None:
    configured(tmp_path, "[gateway]\nmax_body_byte = 1\n")
    done = pointsman(tmp_path, "serve")
    assert done.code == 2
    assert done.error == (
        "error: pointsman.toml: gateway.max_body_byte: unknown key; did you mean 'max_body_bytes'?"
    )
    assert done.out == ""


def test_a_part_refuses_its_own_unknown_keys_and_leaves_the_others_alone(
    tmp_path: Path, inline: Inline
) -> None:
    configured(tmp_path, "[gateway]\nunheard = 1\n[services.dispatch]\nlisen = 1\n")
    done = inline("serve", "dispatch")
    assert done.code == 2
    assert "services.dispatch.lisen: unknown key; did you mean 'listen'?" in done.error


def test_malformed_toml_exits_2_and_names_the_place(tmp_path: Path) -> None:
    file = configured(tmp_path, "[gateway]\nlisten = here\n")
    done = pointsman(tmp_path, "config", "check", "--config", str(file))
    assert done.code == 2
    assert f"error: {file}: not valid TOML: " in done.error
    assert "line 2" in done.error


@pytest.mark.parametrize("key", ["listen", "ops_listen"])
def test_a_port_in_use_exits_1_naming_it_and_makes_no_key(tmp_path: Path, key: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        env = {f"POINTSMAN_GATEWAY__{key.upper()}": address}
        configured(tmp_path, QUIET)
        done = pointsman(tmp_path, "serve", **env)
    assert done.code == 1
    assert address in done.error
    assert not list(tmp_path.rglob("first-router-key"))


@pytest.mark.parametrize("setting", ["GATEWAY", "SERVICES__CREDENTIALS"])
def test_an_unwritable_database_exits_1_naming_it(tmp_path: Path, setting: str) -> None:
    configured(tmp_path, QUIET)
    (tmp_path / "file").write_text("no folder")
    bad = tmp_path / "file" / "pm.db"
    env = {f"POINTSMAN_{setting}__DATABASE": f"sqlite:///{bad}"}
    done = pointsman(tmp_path, "serve", **env)
    assert done.code == 1
    assert str(bad) in done.error
    assert "Traceback" not in done.out


@pytest.mark.spec("OPS-95")
def test_the_configuration_is_shown_with_origins_and_without_secrets(
    tmp_path: Path, inline: Inline
) -> None:
    configured(
        tmp_path,
        QUIET + '[providers.openai]\napi_key = "canary-key"\n'
        '[[credentials]]\nprovider = "openai"\nsecret = "${POOL}"\n',
    )
    env = {"POOL": "canary-pool", "POINTSMAN_BOOTSTRAP_KEY": "rk_canary0123456789"}
    done = pointsman(tmp_path, "config", "show", "--origin", "--json", **env)
    assert done.code == 0
    assert "canary" not in done.out + done.err
    rows = {row["key"]: row for row in json.loads(done.out)}
    assert set(rows["gateway.listen"]) == {"key", "value", "origin"}
    assert rows["gateway.listen"]["origin"] == "file pointsman.toml"
    assert rows["gateway.bootstrap_key"]["origin"] == "env POINTSMAN_BOOTSTRAP_KEY"
    assert rows["gateway.drain_seconds"]["origin"] == "default"
    plain = inline("config", "show", "--origin", **env)
    assert 'gateway.listen = "127.0.0.1:0"  # file pointsman.toml' in plain.out.splitlines()
    assert "canary" not in plain.out


@pytest.mark.spec("OPS-95")
@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            '[providers.acme]\nbase_url = "http://127.0.0.1:9"\n',
            "providers.acme.family: must be set, for 'acme' is not a built-in provider",
        ),
        (
            '[[credentials]]\nprovider = "anthropc"\nsecret = "x"\n',
            "credentials.0.provider: no provider 'anthropc'; did you mean 'anthropic'?",
        ),
        ('[[credentials]]\nprovider = "anthropic"\n', "credentials.0.secret: must be set"),
        (
            '[routing]\nexcluded_models = ["sandbox-larg"]\n',
            "routing.excluded_models.0: no model 'sandbox-larg'; did you mean 'sandbox-large'",
        ),
        (
            '[gateway]\ndatabase = "mysql://localhost/x"\n',
            "gateway.database: must be sqlite:///FILE or postgresql://…",
        ),
    ],
)
def test_a_check_finds_what_a_start_would_and_names_the_file(
    tmp_path: Path, inline: Inline, text: str, complaint: str
) -> None:
    configured(tmp_path, text)
    for command in (("config", "check"), ("serve",)):
        done = inline(*command)
        assert done.code == 2
        assert done.error.startswith(f"error: pointsman.toml: {complaint}")


MODEL = """
[[models]]
id = "acme-large"
tier = "high"
fallbacks = ["claude-haiku-4-5"]
[[models.bindings]]
provider = "acme"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
"""


@pytest.mark.spec("SCO-62", "OPS-95")
@pytest.mark.spec("DSP-234")
@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        (MODEL, "", "cannot be read"),
        (
            '"high"',
            '"hgih"',
            "model 'acme-large': tier must be one of unknown, low, mid, high, top",
        ),
        (
            "tier =",
            "teir =",
            "model 'acme-large': unknown key 'teir'; did you mean 'tier'?",
        ),
        (
            "haiku-4-5",
            "haiku-45",
            "model 'acme-large': fallbacks names unknown model 'claude-haiku-45'; did you mean"
            " 'claude-haiku-4-5'?",
        ),
        (
            "= 2.0",
            '= "2"',
            "model 'acme-large', binding 0: output_usd_per_mtok must be set, in USD per million"
            " tokens, 0 or more",
        ),
        (
            'provider = "acme"',
            'provider = "acne"',
            "model 'acme-large', binding 0: no provider 'acne'; did you mean 'acme'",
        ),
        (MODEL, 2 * MODEL, "model 'acme-large': id is that of two entries; remove one of them"),
    ],
)
def test_a_check_reads_the_files_that_extend_the_catalog(
    tmp_path: Path, inline: Inline, right: str, wrong: str, complaint: str
) -> None:
    configured(
        tmp_path,
        '[catalog]\nextend = ["acme.toml"]\n[providers.acme]\nfamily = "openai_chat"\n'
        'base_url = "http://127.0.0.1:1/v1"\n',
    )
    file = tmp_path / "acme.toml"
    file.write_text(MODEL)
    assert inline("config", "check").code == 0
    file.unlink()
    if wrong:
        file.write_text(MODEL.replace(right, wrong))
    for command in (("config", "check"), ("serve",)):
        done = inline(*command)
        assert done.code == 2
        assert done.error.startswith(f"error: acme.toml: {complaint}")


def test_what_the_sandbox_adds_may_be_excluded(tmp_path: Path, inline: Inline) -> None:
    configured(tmp_path, '[routing]\nexcluded_models = ["sandbox-small"]\n')
    assert inline("config", "check").code == 0


def test_an_unknown_variable_warns_once(inline: Inline) -> None:
    done = inline("config", "check", POINTSMAN_GATEWAY__LISEN="x")
    assert done.code == 0
    assert done.error == (
        "warning: POINTSMAN_GATEWAY__LISEN: unknown setting, ignored; did you mean 'listen'?"
    )


def test_a_database_is_migrated_once(inline: Inline) -> None:
    before = json.loads(inline("migrate", "status", "--json").out)
    assert [row["schema"] for row in before] == ["gateway", "credentials"]
    assert not any(row["current"] for row in before)
    assert inline("migrate", "up").code == 0
    after = json.loads(inline("migrate", "status", "--json").out)
    assert all(row["current"] for row in after)


def test_postgres_is_migrated_by_the_command_alone(
    tmp_path: Path, inline: Inline, postgres_url: str
) -> None:
    configured(tmp_path, QUIET)
    env = {
        "POINTSMAN_GATEWAY__DATABASE": postgres_url,
        "POINTSMAN_SERVICES__CREDENTIALS__DATABASE": postgres_url,
    }
    key = {"POINTSMAN_SERVICES__CREDENTIALS__ENCRYPTION_KEYS": '["' + "A" * 43 + '="]'}
    refused = pointsman(tmp_path, "serve", **env, **key)
    assert refused.code == 1
    assert "pointsman migrate up" in refused.error
    assert inline("migrate", "up", **env).code == 0
    status = json.loads(inline("migrate", "status", "--json").out)
    assert all(row["current"] for row in status)


@pytest.mark.spec("OPS-15", "OPS-19", "OPS-20")
def test_keys_are_made_listed_rotated_and_revoked(inline: Inline) -> None:
    made = json.loads(inline("keys", "create", "ci", "--json").out)
    assert made["token"].startswith("rk_")
    key_id = made["key"]["id"]
    rotated = json.loads(inline("keys", "rotate", key_id, "--json").out)
    assert rotated["key"]["name"] == "ci"
    assert rotated["token"] != made["token"]
    again = inline("keys", "rotate", key_id)
    assert (again.code, "no live key" in again.error) == (1, True)
    assert inline("keys", "revoke", rotated["key"]["id"]).code == 0
    listed = inline("keys", "list", "--json").out
    assert [row["state"] for row in json.loads(listed)] == ["revoked", "revoked"]
    assert made["token"] not in listed
