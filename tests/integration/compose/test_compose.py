"""The compose file agrees with the code: commands, ports, variables, health checks, secrets."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from services.cli.app import Part, app
from services.credentials.adapters.keys import parse_keys
from services.credentials.build import SECRET_METHODS
from services.embedded.settings import Settings
from services.runtime import parts
from services.runtime.config import read_document
from services.runtime.parts import PORTS
from services.runtime.providers import providers_of
from services.runtime.settings import ServiceSettings
from services.runtime.sources import PROVIDER_KEY_VARIABLES
from tests.integration.compose import dockerfile
from tests.integration.compose.composition import (
    CONFIG,
    FILLED,
    FOLDER,
    MissingError,
    Service,
    composition,
    ports_of,
    references,
)

WHOLE = composition()
OURS = {name: service for name, service in WHOLE.services.items() if service.build is not None}
LISTENING = {name: service for name, service in OURS.items() if name != "migrate"}
KEYED = {"credentials", "embedded"}

each_of_ours = pytest.mark.parametrize("name", OURS)
each_listening = pytest.mark.parametrize("name", LISTENING)
each_service = pytest.mark.parametrize("name", WHOLE.services)


def settings_of(service: Service) -> tuple[Settings, Sequence[str]]:
    """Return the settings that a container reads, and what was complained of."""
    said: list[str] = []
    document = read_document(CONFIG, service.environment, said.append)
    return document.section(Settings), said


def words_of(service: Service) -> Sequence[str]:
    """Return the command line behind `pointsman`."""
    return service.command or dockerfile.stages()[service.target].command


def targets_of(service: Service) -> Mapping[str, str]:
    """Return the addresses of the peers that a container is told, by name."""
    found = {
        re.fullmatch(r"POINTSMAN_SERVICES__(\w+)__TARGET", key): value
        for key, value in service.environment.items()
    }
    return {match[1].lower(): value for match, value in found.items() if match is not None}


# What runs


@pytest.mark.spec("OPS-155")
def test_the_containers_are_the_parts_that_the_command_serves() -> None:
    assert set(WHOLE.parts) == {"gateway", *PORTS}
    assert {part.value for part in Part} == set(WHOLE.parts)


@each_of_ours
def test_every_command_is_one_that_the_command_line_has(name: str) -> None:
    command, words = get_command(app), list(words_of(OURS[name]))
    while isinstance(command, TyperGroup):
        command = command.commands[words.pop(0)]
    command.make_context("pointsman", words)


def test_each_part_serves_itself() -> None:
    served = {name: list(words_of(service)) for name, service in WHOLE.parts.items()}
    assert served == {name: ["serve", name] for name in WHOLE.parts}
    assert words_of(WHOLE.services["embedded"]) == ["serve"]
    assert words_of(WHOLE.services["migrate"]) == ["migrate", "up"]


# Who reaches whom


@pytest.mark.spec("OPS-155")
def test_only_the_clients_port_is_published_and_on_loopback() -> None:
    published = {name: service.ports for name, service in WHOLE.services.items() if service.ports}
    assert published == {name: ["127.0.0.1:8080:8080"] for name in ("gateway", "embedded")}


@each_listening
def test_a_part_listens_at_its_own_ports(name: str) -> None:
    if name in PORTS:
        listen = LISTENING[name].environment[f"POINTSMAN_SERVICES__{name.upper()}__LISTEN"]
        options = parts.server_options(name, ServiceSettings(listen=listen))
        assert (options.listen, options.ops_listen) == tuple(f"0.0.0.0:{p}" for p in ports_of(name))
    else:
        own = settings_of(LISTENING[name])[0].gateway
        assert (own.listen, own.ops_listen) == tuple(f"0.0.0.0:{p}" for p in ports_of(name))


def test_whoever_calls_a_peer_is_told_where_it_is_and_shares_a_network_with_it() -> None:
    told = {name: set(targets_of(service)) for name, service in WHOLE.parts.items()}
    assert {name: peers for name, peers in told.items() if peers} == {
        "gateway": set(PORTS),
        "handover": {"dispatch"},
        "dispatch": {"credentials"},
    }
    for service in WHOLE.parts.values():
        for peer, target in targets_of(service).items():
            assert target == f"dns:///{peer}:{PORTS[peer]}"
            assert set(service.networks) & set(WHOLE.services[peer].networks)


def test_only_those_that_ask_providers_or_are_asked_reach_the_outside() -> None:
    open_networks = {name for name, network in WHOLE.networks.items() if not network.internal}
    outside = {n for n, s in WHOLE.services.items() if open_networks.intersection(s.networks)}
    assert outside == {"credentials", "dispatch", "embedded", "gateway"}


# What they are told


@each_of_ours
def test_every_variable_is_a_setting(name: str) -> None:
    settings, said = settings_of(OURS[name])
    assert said == []
    assert set(PROVIDER_KEY_VARIABLES) <= set(settings.providers)
    assert set(providers_of(settings)) >= set(settings.providers)


def test_the_usual_variable_of_every_provider_is_its_key() -> None:
    environment = {name: f"key-of-{provider}" for provider, name in PROVIDER_KEY_VARIABLES.items()}
    settings = read_document(CONFIG, environment).section(Settings)
    keys = {name: one.api_key.get_secret_value() for name, one in settings.providers.items()}
    assert keys == {provider: f"key-of-{provider}" for provider in PROVIDER_KEY_VARIABLES}


def test_key_material_is_told_only_to_those_who_keep_it() -> None:
    def told(value: str) -> set[str]:
        return {n for n, s in WHOLE.services.items() if value in str(s.environment)}

    assert {name for name, service in WHOLE.services.items() if service.env_file} == KEYED
    assert told(FILLED["ENCRYPTION_KEY"]) == KEYED
    assert told(FILLED["POSTGRES_PASSWORD"]) == {"postgres", "migrate", "credentials", "gateway"}
    assert told(FILLED["VALKEY_PASSWORD"]) == {"valkey", "credentials", "gateway"}
    assert told(FILLED["POINTSMAN_BOOTSTRAP_KEY"]) == {"gateway", "embedded"}


def test_plaintext_secrets_are_taken_where_calls_carry_secrets_and_nowhere_else() -> None:
    assert SECRET_METHODS
    allowed = {
        (name, key)
        for name, service in WHOLE.services.items()
        for key in service.environment
        if key.endswith("__ALLOW_PLAINTEXT_SECRETS")
    }
    calls = {
        (name, f"POINTSMAN_SERVICES__{name.upper()}__ALLOW_PLAINTEXT_SECRETS")
        for name in ("credentials", "dispatch")
    }
    # Operators' secrets come by the port that is published on this host alone.
    orders = {
        (name, "POINTSMAN_GATEWAY__ALLOW_PLAINTEXT_SECRETS") for name in ("gateway", "embedded")
    }
    assert allowed == calls | orders


# Passwords


@pytest.mark.spec("OPS-155")
@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("value", [None, ""])
def test_nothing_starts_without_passwords_of_ones_own(name: str, value: str | None) -> None:
    environment = {**FILLED, name: value or ""}
    if value is None:
        del environment[name]
    with pytest.raises(MissingError, match=name):
        composition(environment)


def test_the_example_lists_every_value_and_fills_in_none() -> None:
    text = (FOLDER / ".env.example").read_text()
    assigned = dict(re.findall(r"^#?(\w+)=(.*)$", text, re.MULTILINE))
    known = references()
    assert set(assigned) == set(known)
    assert {name for name, default in known.items() if default == "?"} == set(FILLED)
    assert {n: v for n, v in assigned.items() if v} == {
        n: default for n, default in known.items() if n.endswith("_IMAGE")
    }


def test_what_the_readme_says_to_run_makes_an_environment_that_serves(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    block = re.search(r"```sh\n(.*?)docker compose", (FOLDER / "README.md").read_text(), re.DOTALL)
    assert block is not None
    (tmp_path / "compose").mkdir()
    subprocess.run(["sh", "-euc", block[1]], cwd=tmp_path, check=True)
    made = (tmp_path / "compose" / ".env").read_text().splitlines()
    environment = dict(line.split("=", 1) for line in made)
    assert set(environment) == set(FILLED)
    whole = composition(environment)
    settings, _ = settings_of(whole.services["embedded"])
    keys = settings.services.credentials.encryption_keys
    assert len(parse_keys([key.get_secret_value() for key in keys])) == 1
    assert environment["POSTGRES_PASSWORD"].isalnum()


# How they start and stop


@each_listening
@pytest.mark.spec("OPS-155")
def test_a_health_check_asks_the_part_itself_whether_it_is_ready(name: str) -> None:
    check = LISTENING[name].healthcheck
    assert check is not None
    form, program, flag, module, address = check.test
    assert (form, program, flag) == ("CMD", "python", "-m")
    assert importlib.util.find_spec(module) is not None
    assert address == f"127.0.0.1:{ports_of(name)[1]}"


@pytest.mark.spec("OPS-155")
def test_a_part_starts_when_what_it_needs_is_healthy() -> None:
    order = WHOLE.start_order()
    assert order.index("migrate") < order.index("credentials") < order.index("dispatch")
    assert order[-1] == "gateway"
    for name, service in WHOLE.services.items():
        for needed, dependency in service.depends_on.items():
            if needed == "migrate":
                assert dependency.condition == "service_completed_successfully", name
            else:
                assert dependency.condition == "service_healthy", name
                assert WHOLE.services[needed].healthcheck is not None, needed
    gateway = WHOLE.services["gateway"]
    assert set(gateway.depends_on) >= {"migrate", *targets_of(gateway)}
    with_tables = {n for n, s in WHOLE.parts.items() if "postgresql" in str(s.environment)}
    assert {n for n, s in WHOLE.parts.items() if "migrate" in s.depends_on} == with_tables


@each_listening
def test_running_answers_may_end_before_the_container_does(name: str) -> None:
    period = int(LISTENING[name].stop_grace_period.removesuffix("s"))
    if name == "embedded":
        assert period > 10
    else:
        assert period > ServiceSettings().lame_duck_seconds + ServiceSettings().drain_seconds


@each_service
@pytest.mark.spec("OPS-155")
def test_every_container_is_locked_up(name: str) -> None:
    service = WHOLE.services[name]
    assert service.read_only
    assert service.cap_drop == ["ALL"]
    assert service.security_opt == ["no-new-privileges:true"]
    assert service.user.split(":")[0] not in ("", "0", "root")
    assert all(v.endswith(":ro") or re.match(r"[a-z-]+:/", v) for v in service.volumes)


@pytest.mark.spec("OPS-155")
def test_the_embedded_profile_is_one_container_and_the_rest_has_none() -> None:
    profiled = {name: s.profiles for name, s in WHOLE.services.items() if s.profiles}
    assert profiled == {"embedded": ["embedded"]}
    assert WHOLE.services["embedded"].depends_on == {}
    assert (
        "/var/lib/pointsman/"
        in WHOLE.services["embedded"].environment["POINTSMAN_GATEWAY__DATABASE"]
    )
