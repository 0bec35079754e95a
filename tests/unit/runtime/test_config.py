"""Configuration: file, overlay, complaints, origins."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, SecretStr

from services.runtime.config import ConfigError, Document, SettingError, read_document
from services.runtime.settings import CommonSettings, Section, ServiceSettings
from services.runtime.sources import parsed


class Edge(Section):
    listen: str = "127.0.0.1:8080"
    keepalive: float = Field(default=15.0, ge=0)
    admin_token: SecretStr = SecretStr("")
    database: str = "sqlite:///~/x.db"
    tags: tuple[str, ...] = ()
    is_on: bool = True


class Parts(Section):
    dispatch: ServiceSettings = ServiceSettings()


class Whole(CommonSettings):
    gateway: Edge = Edge()
    services: Parts = Parts()


def document(
    tmp_path: Path, text: str | None = None, env: dict[str, str] | None = None
) -> tuple[Document, list[str]]:
    warnings: list[str] = []
    file = None
    if text is not None:
        file = tmp_path / "pm.toml"
        file.write_text(text)
    return read_document(file, env or {}, warnings.append), warnings


def complaint(tmp_path: Path, text: str, env: dict[str, str] | None = None) -> str:
    with pytest.raises(ConfigError) as caught:
        document(tmp_path, text, env)[0].section(Whole)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.spec("OPS-94")
def test_a_variable_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    text = '[gateway]\nlisten = "127.0.0.1:1"\nkeepalive = 3\n'
    found, _ = document(tmp_path, text, {"POINTSMAN_GATEWAY__LISTEN": "127.0.0.1:2"})
    settings = found.section(Whole)
    assert settings.gateway.listen == "127.0.0.1:2"
    assert settings.gateway.keepalive == 3
    assert settings.gateway.database == "sqlite:///~/x.db"


@pytest.mark.spec("OPS-95")
@pytest.mark.parametrize(
    ("text", "key", "near"),
    [
        ('[gateway]\nlisen = "x"\n', "gateway.lisen", "'listen'"),
        ('[gatway]\nlisten = "x"\n', "gatway", "'gateway'"),
        ('[providers.acme]\nbase_uri = "x"\n', "providers.acme.base_uri", "'base_url'"),
        ("[services.dispatch]\ndrain_second = 1\n", "services.dispatch.drain_second", "'drain_"),
        ('[[credentials]]\nprovider = "a"\nlable = "b"\n', "credentials.0.lable", "'label'"),
    ],
)
def test_an_unknown_key_is_named_with_its_file_and_the_nearest_valid_one(
    tmp_path: Path, text: str, key: str, near: str
) -> None:
    message = complaint(tmp_path, text)
    assert message.startswith(f"{tmp_path / 'pm.toml'}: {key}: unknown key; did you mean {near}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[gateway]\nkeepalive = "often"\n', "gateway.keepalive: must be a number"),
        ("[gateway]\nkeepalive = -1\n", "gateway.keepalive: should be greater than or equal to 0"),
        ("[gateway]\nlisten = 8080\n", "gateway.listen: must be a text in quotes"),
        ("gateway = 1\n", "gateway: must be a table"),
        ('[gateway]\ntags = "a"\n', "gateway.tags: must be a list"),
        ('[[credentials]]\nlabel = "x"\n', "credentials.0.provider: must be set"),
        ('[providers.a]\nfamily = "x"\n', "providers.a.family: should be 'anthropic', "),
        (
            '[[credentials]]\nprovider = "a"\nexpires_at = "soon"\n',
            "credentials.0.expires_at: ",
        ),
        (
            '[[credentials]]\nprovider = "a"\nbase_url = "gateway.example"\n',
            "credentials.0.base_url: must be an http:// or https:// address without user",
        ),
        (
            '[[credentials]]\nprovider = "a"\nbase_url = "https://me:word@gateway.example"\n',
            "credentials.0.base_url: must be an http:// or https:// address without user",
        ),
        (
            '[[credentials]]\nprovider = "a"\nproxy = "proxy.example:3128"\n',
            "credentials.0.proxy: must be an http:// or https:// address",
        ),
    ],
)
def test_an_unusable_value_is_named_with_its_fix(tmp_path: Path, text: str, expected: str) -> None:
    message = complaint(tmp_path, text)
    assert f"pm.toml: {expected}" in message
    assert ".example" not in message


def test_a_complaint_about_a_variable_names_the_variable(tmp_path: Path) -> None:
    message = complaint(tmp_path, "", {"POINTSMAN_GATEWAY__KEEPALIVE": "often"})
    assert message == "POINTSMAN_GATEWAY__KEEPALIVE: gateway.keepalive: must be a number"


def test_a_variable_that_sets_a_list_is_told_to_be_json(tmp_path: Path) -> None:
    message = complaint(tmp_path, "", {"POINTSMAN_GATEWAY__TAGS": "a,b"})
    assert message.endswith("gateway.tags: must be a list, written as JSON")


@pytest.mark.parametrize(
    ("text", "environ", "source"),
    [
        ('[gateway]\nlisten = "a"\n', {}, "pm.toml"),
        ("", {"POINTSMAN_GATEWAY__LISTEN": "a"}, "POINTSMAN_GATEWAY__LISTEN"),
    ],
)
def test_a_complaint_from_outside_the_schema_names_the_source(
    tmp_path: Path, text: str, environ: dict[str, str], source: str
) -> None:
    found, _ = document(tmp_path, text, environ)
    message = rf"{source}: gateway\.listen: must be elsewhere$"
    with pytest.raises(ConfigError, match=message), found.naming_sources():
        raise SettingError("gateway.listen", "must be elsewhere")


def test_a_complaint_never_shows_a_value(tmp_path: Path) -> None:
    text = '[gateway]\nadmin_token = ["canary-a"]\nkeepalive = "canary-b"\n'
    assert "canary" not in complaint(tmp_path, text)


def test_malformed_toml_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"pm\.toml: not valid TOML: .*line 2"):
        document(tmp_path, "[gateway]\nlisten = x\n")


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"gone\.toml: cannot be read: No such file"):
        read_document(None, {"POINTSMAN_CONFIG": str(tmp_path / "gone.toml")})


@pytest.mark.parametrize(
    ("variable", "raw", "path", "expected"),
    [
        ("POINTSMAN_GATEWAY__IS_ON", "false", "is_on", False),
        ("POINTSMAN_GATEWAY__TAGS", '["a", "b"]', "tags", ("a", "b")),
        ("POINTSMAN_GATEWAY__KEEPALIVE", "0.5", "keepalive", 0.5),
        ("POINTSMAN_GATEWAY__LISTEN", "[1]", "listen", "[1]"),
        ("POINTSMAN_GATEWAY__DATABASE", "123", "database", "123"),
    ],
)
def test_variables_are_json_where_the_key_is_no_text(
    tmp_path: Path, variable: str, raw: str, path: str, expected: object
) -> None:
    found, _ = document(tmp_path, "", {variable: raw})
    assert getattr(found.section(Whole).gateway, path) == expected


def test_a_variable_may_set_a_whole_table_and_another_refines_it(tmp_path: Path) -> None:
    env = {
        "POINTSMAN_PROVIDERS": '{"acme": {"family": "gemini", "base_url": "http://a"}}',
        "POINTSMAN_PROVIDERS__ACME__BASE_URL": "http://b",
    }
    acme = document(tmp_path, None, env)[0].section(Whole).providers["acme"]
    assert (acme.family, acme.base_url) == ("gemini", "http://b")


@pytest.mark.spec("OPS-95")
def test_the_key_that_clients_show_is_no_setting(tmp_path: Path) -> None:
    found, warnings = document(tmp_path, None, {"POINTSMAN_KEY": "rk_shown"})
    assert found.tree == {}
    assert warnings == []


def test_an_unknown_variable_warns_and_changes_nothing(tmp_path: Path) -> None:
    env = {"POINTSMAN_GATEWAY__LISEN": "x", "POINTSMAN_CONFIG": "", "POINTSMAN_X": "1"}
    found, warnings = document(tmp_path, None, env)
    assert found.section(Whole) == Whole()
    assert [line.partition(":")[0] for line in warnings] == [
        "POINTSMAN_X",
        "POINTSMAN_GATEWAY__LISEN",
    ]
    assert "did you mean 'listen'?" in warnings[1]


def test_references_are_filled_and_an_unset_one_makes_a_secret_empty(tmp_path: Path) -> None:
    text = '[gateway]\nlisten = "${HOST}:1"\nadmin_token = "${NONE}"\n'
    settings = document(tmp_path, text, {"HOST": "::1"})[0].section(Whole)
    assert settings.gateway.listen == "::1:1"
    assert settings.gateway.admin_token.get_secret_value() == ""


def test_an_unset_reference_in_a_plain_text_is_an_error(tmp_path: Path) -> None:
    message = complaint(tmp_path, '[gateway]\nlisten = "${HOST}:1"\n')
    assert message.endswith("pm.toml: gateway.listen: environment variable HOST is not set")


def test_short_variables_set_their_keys_and_the_long_spelling_wins(tmp_path: Path) -> None:
    env = {"POINTSMAN_ADMIN_TOKEN": "short"}
    settings = document(tmp_path, None, env)[0].section(Whole)
    assert settings.gateway.admin_token.get_secret_value() == "short"
    env["POINTSMAN_GATEWAY__ADMIN_TOKEN"] = "long"
    settings = document(tmp_path, None, env)[0].section(Whole)
    assert settings.gateway.admin_token.get_secret_value() == "long"


@pytest.mark.spec("OPS-115")
def test_without_a_file_provider_keys_come_from_their_usual_variables(tmp_path: Path) -> None:
    env = {"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": ""}
    assert list(document(tmp_path, None, env)[0].section(Whole).providers) == ["openrouter"]
    assert document(tmp_path, "", env)[0].section(Whole).providers == {}


def test_one_part_reads_its_own_tables_and_leaves_the_others_alone(tmp_path: Path) -> None:
    text = (
        "[gateway]\nunheard = 1\n[services.dispatch]\nmax_concurrent = 4\n"
        '[services.credentials]\ntarget = "unix:/c"\n'
    )
    env = {"POINTSMAN_GATEWAY__OTHER": "1", "POINTSMAN_SERVICES__DISPATCH__DRAIN_SECONDS": "2"}
    found, warnings = document(tmp_path, text, env)
    assert found.section(CommonSettings, without={"gateway", "services"}) == CommonSettings()
    own = found.section(ServiceSettings, "services.dispatch")
    assert (own.max_concurrent, own.drain_seconds) == (4, 2.0)
    assert found.text("services.credentials.target") == "unix:/c"
    assert found.text("services.planner.target") == ""
    assert warnings == []


def test_a_variable_sets_the_address_of_a_peer(tmp_path: Path) -> None:
    env = {"POINTSMAN_SERVICES__CREDENTIALS__TARGET": "dns:///c:1"}
    assert document(tmp_path, None, env)[0].text("services.credentials.target") == "dns:///c:1"


@pytest.mark.spec("OPS-95")
def test_every_setting_is_listed_with_its_origin_and_secrets_masked(tmp_path: Path) -> None:
    text = (
        '[gateway]\nadmin_token = "canary"\ndatabase = "postgresql://u:canary@h/d"\n'
        '[[credentials]]\nprovider = "openai"\nsecret = "${KEY}"\n'
    )
    env = {"POINTSMAN_GATEWAY__LISTEN": "h:1", "KEY": "canary"}
    found, _ = document(tmp_path, text, env)
    entries = {entry.key: entry for entry in found.entries(found.section(Whole))}
    assert "canary" not in repr(entries)
    assert entries["gateway.listen"].origin == "env POINTSMAN_GATEWAY__LISTEN"
    assert entries["gateway.admin_token"].origin == f"file {tmp_path / 'pm.toml'}"
    assert entries["gateway.admin_token"].value == "********"
    assert entries["gateway.keepalive"].origin == "default"
    assert entries["credentials.0.secret"].origin.startswith("file ")
    assert entries["credentials.0.label"].origin == "default"


@given(st.text())
def test_a_variable_that_is_no_json_stays_as_it_is(raw: str) -> None:
    assert parsed(f"#{raw}") == f"#{raw}"
