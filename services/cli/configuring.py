"""Checks and shows the configuration."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gateway.policy import policy_of
from services.cli import output
from services.credentials.build import declared_pool, encryption_keys_of
from services.embedded.host import catalog_of, wants_sandbox, with_sandbox
from services.embedded.settings import Settings
from services.runtime.config import read_document
from services.runtime.providers import providers_of

if TYPE_CHECKING:
    from pathlib import Path


def check(file: Path | None) -> None:
    """Print that the configuration can be used.

    Raises:
        ConfigError: it cannot.
    """
    print(f"ok: {verdict(file)}")


def verdict(file: Path | None) -> str:
    """Return what a usable configuration is made of.

    Raises:
        ConfigError: it cannot be used.
    """
    document = read_document(file)
    settings = document.section(Settings)
    is_sandboxed = wants_sandbox(settings)
    if is_sandboxed:
        settings = with_sandbox(settings, "http://127.0.0.1")
    with document.naming_sources():
        encryption_keys_of(settings.services.credentials)
        declared_pool(settings, providers_of(settings))
        catalog = catalog_of(document, settings, is_sandboxed=is_sandboxed)
        policy_of(settings.routing, settings, catalog)
    source = document.file or "no file, defaults and environment"
    return f"{source} ({len(catalog.models)} models, catalog {catalog.version})"


def show(file: Path | None, *, with_origin: bool, as_json: bool) -> None:
    """Print every effective setting.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    document = read_document(file)
    entries = document.entries(document.section(Settings))
    if as_json:
        output.as_json_text([{"key": e.key, "value": e.value, "origin": e.origin} for e in entries])
        return
    for entry in entries:
        origin = f"  # {entry.origin}" if with_origin else ""
        print(f"{entry.key} = {json.dumps(entry.value, ensure_ascii=False)}{origin}")
