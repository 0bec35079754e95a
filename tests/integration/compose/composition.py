"""The compose file as an engine reads it: merged, filled in from the environment, typed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from services.runtime.parts import OPS_PORT_OFFSET, PORTS

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "compose"
FILE = FOLDER / "compose.yaml"
CONFIG = FOLDER / "config" / "pointsman.toml"
STORES = frozenset({"postgres", "valkey"})
REFERENCE = re.compile(r"\$(?:\$|\{(\w+)(?:(:[-?])([^}]*))?\})")
FILLED: Mapping[str, str] = {
    "POSTGRES_PASSWORD": "postgresword",
    "VALKEY_PASSWORD": "valkeyword",
    "ENCRYPTION_KEY": "5e" * 32,
    "POINTSMAN_BOOTSTRAP_KEY": "rk_" + "c0" * 20,
}
"""What an `.env` holds at least."""


GATEWAY_PORTS = (8080, 9090)


class MissingError(Exception):
    """A required value is not in the environment."""


class Strict(BaseModel):
    """A mapping of the file; a key that is not known here is taken for a slip."""

    model_config = ConfigDict(extra="forbid")


class Build(Strict):
    context: str
    dockerfile: str
    target: str
    args: dict[str, str] = Field(default_factory=dict)


class Dependency(Strict):
    condition: Literal["service_healthy", "service_completed_successfully"]


class HealthCheck(Strict):
    test: list[str]
    interval: str
    timeout: str
    retries: int
    start_period: str
    start_interval: str


class EnvFile(Strict):
    path: str
    required: bool


class Service(Strict):
    image: str = ""
    build: Build | None = None
    entrypoint: list[str] = Field(default_factory=list)
    command: list[str] = Field(default_factory=list)
    profiles: list[str] = Field(default_factory=list)
    user: str
    read_only: bool
    cap_drop: list[str]
    security_opt: list[str]
    restart: Literal["no", "unless-stopped"]
    stop_grace_period: str = "10s"
    tmpfs: list[str] = Field(default_factory=list)
    volumes: list[str] = Field(default_factory=list)
    env_file: list[EnvFile] = Field(default_factory=list)
    environment: dict[str, str] = Field(default_factory=dict)
    networks: list[str]
    ports: list[str] = Field(default_factory=list)
    depends_on: dict[str, Dependency] = Field(default_factory=dict)
    healthcheck: HealthCheck | None = None

    @property
    def target(self) -> str:
        """Return the target of the Dockerfile that it is made from; empty for others' images."""
        return self.build.target if self.build is not None else ""


class Network(Strict):
    internal: bool = False


class Composition(BaseModel):
    name: str
    services: dict[str, Service]
    networks: dict[str, Network]
    volumes: dict[str, dict[str, str]]

    @property
    def parts(self) -> Mapping[str, Service]:
        """Return the parts of the product that run apart, in the order of the file."""
        return {
            name: service
            for name, service in self.services.items()
            if name not in STORES | {"migrate", "embedded"}
        }

    def start_order(self) -> Sequence[str]:
        """Return the services of no profile, each behind those that it waits for."""
        waiting = {n: set(s.depends_on) for n, s in self.services.items() if not s.profiles}
        order: list[str] = []
        while waiting:
            free = [name for name, needs in waiting.items() if needs <= set(order)]
            assert free, f"these wait for each other: {sorted(waiting)}"
            order += free
            waiting = {name: needs for name, needs in waiting.items() if name not in free}
        return order


def composition(environment: Mapping[str, str] = FILLED) -> Composition:
    """Return the file, filled in.

    Raises: MissingError.
    """
    return Composition.model_validate(_filled(yaml.safe_load(FILE.read_text()), environment))


def references() -> Mapping[str, str]:
    """Return the variables that the file reads, each with its default; required ones with `?`."""
    text = FILE.read_text()
    found = [match for match in REFERENCE.finditer(text) if match[1]]
    return {match[1]: "?" if match[2] == ":?" else match[3] or "" for match in found}


def ports_of(name: str) -> tuple[int, int]:
    """Return the port and the ops port of a container of ours."""
    if name in ("gateway", "embedded"):
        return GATEWAY_PORTS
    return PORTS[name], PORTS[name] + OPS_PORT_OFFSET


def _filled(value: object, environment: Mapping[str, str]) -> object:
    match value:
        case dict():
            return {key: _filled(child, environment) for key, child in value.items()}
        case list():
            return [_filled(child, environment) for child in value]
        case str():
            return REFERENCE.sub(lambda match: _looked_up(match, environment), value)
    return value


def _looked_up(match: re.Match[str], environment: Mapping[str, str]) -> str:
    name, kind, rest = match.groups()
    if name is None:
        return "$"
    found = environment.get(name, "")
    if not found and kind == ":?":
        raise MissingError(name)
    return found or (rest if kind == ":-" else "")
