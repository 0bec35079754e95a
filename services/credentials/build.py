"""Builds the credentials service from its settings."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.keys import key_file_of, parse_keys
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.model import CredentialSpec, Origin, OveragePolicy, Secrets, Strategy
from services.credentials.policy.declared import Declared
from services.credentials.policy.evidence import Rules
from services.credentials.policy.selection import Terms
from services.credentials.policy.trial import Trials
from services.credentials.server import CredentialsServicer, Options, Service
from services.domain.vocab import CredentialKind
from services.runtime import database
from services.runtime.config import SettingError
from services.runtime.host import Bundle
from services.runtime.providers import providers_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import grpc

    from services.credentials.ports import Shared
    from services.credentials.settings import CredentialsSettings
    from services.domain.catalog import Catalog
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.providers import Provider
    from services.runtime.settings import CommonSettings, CredentialSettings

FULL_NAME = "pointsman.credentials.v1.CredentialsService"
KEYS_SETTING = "services.credentials.encryption_keys"

ALLOWED_CALLERS = {
    f"/{FULL_NAME}/{method}": callers
    for method, callers in {
        "AcquireSecret": frozenset({"dispatch"}),
        "ReportAttempt": frozenset({"dispatch"}),
        "SelectCredential": frozenset({"gateway"}),
        "GetEligibility": frozenset({"gateway"}),
    }.items()
}
"""Who may call what; operators' methods are open to all of ours."""
SECRET_METHODS = frozenset(
    f"/{FULL_NAME}/{method}"
    for method in ("AcquireSecret", "CreateCredential", "GetEligibility", "UpdateCredential")
)


def build(
    settings: CredentialsSettings,
    common: CommonSettings,
    *,
    catalog: Catalog,
    clock: Clock,
    channel_to: ChannelTo,
) -> Bundle:
    """Return the service, not yet started. It calls no peer.

    Raises:
        SettingError: the pool is inconsistent, or PostgreSQL is used without encryption keys.
    """
    providers = providers_of(common)
    options = Options(
        families={name: one.family for name, one in providers.items()},
        declared=declared_pool(common, providers),
        terms=Terms(Strategy(settings.strategy), settings.affinity_survives_warning),
        rules=Rules(
            families={name: one.family for name, one in providers.items()},
            family_of=_family_of(catalog),
            warning_fallback_age_s=settings.warning_fallback_age_seconds,
            codex_warn_percent=settings.codex_warn_percent,
            ladder_base_s=settings.backoff_base_seconds,
            ladder_ceiling_s=settings.backoff_ceiling_seconds,
        ),
        trials=Trials(settings.trial_after_seconds, settings.trial_interval_seconds),
        transient_s=settings.transient_mark_seconds,
        is_cooling=settings.cooling,
        is_affinity_on=settings.session_affinity,
        affinity_ttl_s=settings.session_affinity_seconds,
        lease_ttl_s=settings.lease_ttl_seconds,
        poll_s=settings.poll_seconds,
    )
    cipher = AesGcmCipher(_keys(settings), _key_file(settings.database))
    service = Service(SqlStore(settings.database), cipher, options, clock, _shared(common))
    servicer = CredentialsServicer(service, options, clock)

    def attach(server: grpc.aio.Server) -> None:
        rpc.add_CredentialsServiceServicer_to_server(servicer, server)

    return Bundle(
        full_name=FULL_NAME,
        attach=attach,
        start=service.start,
        aclose=service.aclose,
        allowed_callers=ALLOWED_CALLERS,
        secret_methods=SECRET_METHODS,
        readiness=service.readiness,
    )


def declared_pool(
    common: CommonSettings, providers: Mapping[str, Provider]
) -> tuple[Declared, ...]:
    """Return the credentials that configuration states.

    A provider's key is a credential labelled by the provider; a custom provider without a key
    needs none. Entries of the pool follow in their order.

    Raises:
        SettingError: an entry has no secret, or a gateway key no address.
    """
    found = [
        one
        for name in providers
        if name in common.providers
        for one in _provider_key(name, providers[name], common)
    ]
    for index, entry in enumerate(common.credentials):
        found.append(_pool_entry(entry, f"credentials.{index}", index))
    return tuple(found)


def _provider_key(name: str, provider: Provider, common: CommonSettings) -> list[Declared]:
    value = common.providers[name].api_key.get_secret_value().strip()
    if not value and provider.is_vendor:
        return []
    kind = CredentialKind.API_KEY if value else CredentialKind.NONE
    spec = CredentialSpec(provider=name, kind=kind, label=name)
    return [Declared(spec, Secrets(value=value), Origin.PROVIDER_KEY)]


def _pool_entry(entry: CredentialSettings, place: str, index: int) -> Declared:
    secret = entry.secret.get_secret_value().strip()
    refresh_token = entry.refresh_token.get_secret_value().strip()
    if entry.kind is not CredentialKind.NONE and not (secret or refresh_token):
        raise SettingError(f"{place}.secret", "must be set")
    if entry.kind is CredentialKind.GATEWAY and not entry.base_url:
        raise SettingError(f"{place}.base_url", "must be set for kind gateway")
    expires = entry.expires_at
    spec = CredentialSpec(
        provider=entry.provider,
        kind=entry.kind,
        installation_id=entry.installation,
        label=entry.label,
        account=entry.account,
        is_enabled=entry.enabled,
        priority=entry.priority,
        weight=entry.weight,
        model_ids=entry.models,
        excluded_model_patterns=entry.excluded_models,
        upstream_id_by_model=tuple(sorted(entry.aliases.items())),
        base_url=entry.base_url.rstrip("/"),
        max_in_flight=entry.max_in_flight,
        overage=OveragePolicy(entry.overage),
        order=index + 1,
    )
    secrets = Secrets(
        value=secret,
        refresh_token=refresh_token,
        account_id=entry.account if entry.kind is CredentialKind.CODEX_OAUTH else "",
        expire_unix_s=_unix_s(expires),
    )
    return Declared(spec, secrets, Origin.POOL)


def _unix_s(time: dt.datetime | float | None) -> float | None:
    """Return seconds since 1970; a time without a zone is in UTC."""
    if isinstance(time, dt.datetime):
        return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()
    return time


def _family_of(catalog: Catalog) -> Callable[[str], str]:
    """Return what says a model's family; one without is a family of its own."""

    def family_of(model_id: str) -> str:
        model = catalog.models.get(model_id)
        return model.family or model_id if model is not None else model_id

    return family_of


def _shared(common: CommonSettings) -> Shared:
    url = common.shared.valkey_url.get_secret_value()
    if not url:
        return Alone()
    from services.credentials.adapters.valkey import ValkeyShared  # one process needs no client

    return ValkeyShared(url)


def _keys(settings: CredentialsSettings) -> tuple[bytes, ...]:
    keys = parse_keys([key.get_secret_value() for key in settings.encryption_keys])
    if not keys and not database.is_sqlite(settings.database):
        raise SettingError(
            KEYS_SETTING,
            "must be set with a PostgreSQL database; make a key with `openssl rand -base64 32`",
        )
    return keys


def _key_file(url: str) -> Path | None:
    path = database.sqlite_path(url) if database.is_sqlite(url) else None
    return None if path is None else key_file_of(path)
