"""Keeps credentials in the store of the configuration; a server that runs on it adopts changes."""

from __future__ import annotations

import asyncio
import datetime as dt
import enum
import getpass
import os
import secrets as randomness
import sys
from typing import TYPE_CHECKING, TypeVar

from google.protobuf import field_mask_pb2, timestamp_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.cli import output
from services.cli.credentials_shown import facts, row
from services.credentials.build.opening import opened
from services.credentials.codec import fields
from services.credentials.model import CoolingPolicy, OveragePolicy
from services.domain.vocab import CredentialKind
from services.embedded.host import catalog_of
from services.embedded.settings import Settings
from services.runtime.clock import SystemClock
from services.runtime.config import ConfigError, read_document
from services.runtime.launch import StartError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from services.cli.credentials import NewCredential
    from services.credentials.build.opening import Desk
    from services.credentials.server.resealing import Resealed

T = TypeVar("T")
E = TypeVar("E", bound=enum.Enum)

WARNED_NOTE = (
    "note: a credential with an early warning serves after every clean one, whatever its priority"
)
_CLOCK = SystemClock()


def list_all(file: Path | None, *, as_json: bool) -> None:
    """Print all credentials."""

    async def work(desk: Desk) -> list[pb.Credential]:
        return desk.credentials()

    found = _at_desk(file, work)
    output.rows([facts(one) if as_json else row(one) for one in found], as_json=as_json)
    is_warned = pb.MARK_KIND_WARNING in {mark.kind for one in found for mark in one.marks}
    if is_warned and not as_json:
        print(WARNED_NOTE, file=sys.stderr)


def show(file: Path | None, name: str, *, as_json: bool) -> None:
    """Print one credential.

    Raises:
        StartError: there is none of that name, or several.
    """

    async def work(desk: Desk) -> pb.Credential:
        return _named(desk, name)

    output.facts(facts(_at_desk(file, work)), as_json=as_json)


def add(file: Path | None, order: NewCredential, *, as_json: bool) -> None:
    """Store a credential and print it.

    Raises:
        ConfigError: an option cannot be used.
        InvalidRequestError: a setting cannot be used.
        RouterError: a credential like it exists.
    """
    request = pb.CreateCredentialRequest(
        idempotency_key=randomness.token_hex(16),
        spec=_spec(order),
        secrets=_secrets(order),
        actor=_actor(),
    )

    async def work(desk: Desk) -> pb.Credential:
        return await desk.create(request)

    output.facts(facts(_at_desk(file, work)), as_json=as_json)


def switch(file: Path | None, name: str, *, is_enabled: bool, as_json: bool) -> None:
    """Switch a credential on or off and print it.

    Raises:
        StartError: there is none of that name, or several.
    """

    async def work(desk: Desk) -> pb.Credential:
        found = _named(desk, name)
        return await desk.update(
            pb.UpdateCredentialRequest(
                credential_id=found.credential_id,
                spec=pb.CredentialSpec(is_enabled=is_enabled),
                update_mask=field_mask_pb2.FieldMask(paths=["is_enabled"]),
                actor=_actor(),
            )
        )

    output.facts(facts(_at_desk(file, work)), as_json=as_json)


def reset(file: Path | None, name: str, model: str, *, as_json: bool) -> None:
    """Clear a credential's marks and print how many stood.

    Raises:
        StartError: there is none of that name, or several.
    """

    async def work(desk: Desk) -> tuple[pb.Credential, int]:
        found = _named(desk, name)
        return found, await desk.reset(found.credential_id, model, _actor())

    found, count = _at_desk(file, work)
    output.facts({"id": found.credential_id, "cleared": count}, as_json=as_json)


def reencrypt(file: Path | None, *, as_json: bool) -> None:
    """Seal every secret anew and print how many were.

    Raises:
        StartError: some cannot be read with the keys that are set; the others are sealed anew.
    """

    async def work(desk: Desk) -> Resealed:
        return await desk.reencrypt(_actor())

    done = _at_desk(file, work)
    shown = {"reencrypted": done.changed_count, "up_to_date": done.kept_count}
    output.facts({**shown, "unreadable": done.unreadable_count}, as_json=as_json)
    if done.unreadable_count:
        raise StartError(
            f"{done.unreadable_count} credentials cannot be read: keep the older keys in"
            " encryption_keys, and look at `pointsman credentials list` for quarantined ones"
        )


def remove(file: Path | None, name: str, *, as_json: bool) -> None:
    """Remove a credential.

    Raises:
        StartError: there is none of that name, several, or it is stated in the configuration.
    """

    async def work(desk: Desk) -> pb.Credential:
        found = _named(desk, name)
        if found.origin != pb.CREDENTIAL_ORIGIN_STORED:
            raise StartError(
                f"{found.fingerprint} is stated in the configuration: remove it there, or"
                f" `pointsman credentials disable {found.fingerprint}`"
            )
        await desk.remove(found.credential_id, _actor())
        return found

    found = _at_desk(file, work)
    output.facts({"id": found.credential_id, "state": "removed"}, as_json=as_json)


def _at_desk(file: Path | None, work: Callable[[Desk], Awaitable[T]]) -> T:
    document = read_document(file)
    settings = document.section(Settings)
    with document.naming_sources():
        catalog = catalog_of(document, settings, is_sandboxed=False)

    async def run() -> T:
        own = settings.services.credentials
        async with opened(own, settings, catalog, _CLOCK) as desk:
            return await work(desk)

    with document.naming_sources():
        return asyncio.run(run())


def _named(desk: Desk, name: str) -> pb.Credential:
    found = [
        one
        for one in desk.credentials()
        if name in (one.credential_id, one.fingerprint, one.spec.label)
    ]
    if len(found) == 1:
        return found[0]
    what = "several credentials are named" if found else "no credential is named"
    raise StartError(f"{what} {name!r}: `pointsman credentials list` shows ids and fingerprints")


def _spec(order: NewCredential) -> pb.CredentialSpec:
    spec = pb.CredentialSpec(
        installation_id=order.installation,
        provider=order.provider,
        kind=fields.KINDS[order.kind],
        label=order.label,
        account=order.account,
        priority=order.priority,
        weight=order.weight,
        model_ids=order.models,
        excluded_model_patterns=order.excluded_models,
        upstream_id_by_model=dict(_alias(text) for text in order.aliases),
        model_prefix=order.model_prefix,
        base_url=order.base_url,
        max_in_flight_count=order.max_in_flight,
    )
    spec.overage = fields.OVERAGES[_choice(OveragePolicy, order.overage, "--overage")]
    spec.cooling = fields.COOLINGS[_choice(CoolingPolicy, order.cooling, "--cooling")]
    return spec


def _secrets(order: NewCredential) -> pb.CredentialSecrets:
    if order.kind is CredentialKind.NONE:
        return pb.CredentialSecrets()
    refresh = _variable(order.refresh_token_env, "--refresh-token-env")
    value = _variable(order.secret_env, "--secret-env") or ("" if refresh else _asked())
    made = pb.CredentialSecrets(value_secret=value, refresh_token_secret=refresh)
    if order.kind is CredentialKind.CODEX_OAUTH:
        made.account_id = order.account
    if order.kind is CredentialKind.GEMINI_OAUTH:
        made.project_id = order.account
    if order.expires_at:
        made.expire_time.CopyFrom(_time(order.expires_at))
    return made


def _variable(name: str, option: str) -> str:
    if not name:
        return ""
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"{option}: the variable {name} is not set")
    return value


def _asked() -> str:
    """Return a secret that is typed without being shown, or stands in the input."""
    if sys.stdin.isatty():
        return getpass.getpass("secret: ").strip()
    return sys.stdin.readline().strip()


def _alias(text: str) -> tuple[str, str]:
    model, mark, name = text.partition("=")
    if not (mark and model and name):
        raise ConfigError(f"--alias {text}: must be MODEL=NAME")
    return model, name


def _choice(kind: type[E], text: str, option: str) -> E:
    members = {str(member): member for member in kind}
    if text not in members:
        raise ConfigError(f"{option}: must be one of {', '.join(members)}")
    return members[text]


def _time(text: str) -> timestamp_pb2.Timestamp:
    try:
        found = dt.datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError("--expires-at: must be a time such as 2030-01-31T12:00:00Z") from None
    zoned = found if found.tzinfo else found.replace(tzinfo=dt.UTC)
    return fields.timestamp(zoned.timestamp())


def _actor() -> str:
    return f"cli:{getpass.getuser()}"
