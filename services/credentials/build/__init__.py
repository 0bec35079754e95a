"""Builds the credentials service from its settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.adapters.alone import Alone
from services.credentials.adapters.cipher import AesGcmCipher
from services.credentials.adapters.keys import key_file_of, parse_keys
from services.credentials.adapters.store_sql import SqlStore
from services.credentials.adapters.token_files import NoTokenFiles, TokenFiles
from services.credentials.adapters.token_http import HttpTokenEndpoint
from services.credentials.build.declaring import declared_pool, lane_priorities
from services.credentials.build.models import beyond_codex_in, family_in
from services.credentials.model import Strategy, TokenClient
from services.credentials.policy.defaults import Defaults
from services.credentials.policy.evidence import Rules
from services.credentials.policy.selection import Terms
from services.credentials.policy.trial import Trials
from services.credentials.server import CredentialsServicer, Options, Service
from services.domain.vocab import CredentialKind
from services.runtime import database
from services.runtime.config import SettingError
from services.runtime.host import Bundle
from services.runtime.providers import providers_of
from services.runtime.reloading import Current
from services.runtime.valkey import shared_url

if TYPE_CHECKING:
    from collections.abc import Mapping

    import grpc

    from services.credentials.ports import Shared, TokenJournal
    from services.credentials.settings import CredentialsSettings
    from services.domain.catalog import Catalog
    from services.domain.vocab import WireFamily
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.reloading import Edition, TakeOver
    from services.runtime.settings import CommonSettings

__all__ = ["SECRET_METHODS", "build", "declared_pool", "encryption_keys_of", "make_service"]

FULL_NAME = "pointsman.credentials.v1.CredentialsService"
ORPHAN_WAIT_S = 8.0
DEFAULT_JOURNAL = "~/.pointsman/tokens"
KEYS_SETTING = "services.credentials.encryption_keys"

ALLOWED_CALLERS = {
    f"/{FULL_NAME}/{method}": callers
    for method, callers in {
        "AcquireSecret": frozenset({"dispatch"}),
        "ReportAttempt": frozenset({"dispatch", "gateway"}),
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
    current, families = Current(catalog), families_of(common)
    service, options = make_service(settings, common, families, current=current, clock=clock)
    servicer = CredentialsServicer(service, options, clock)

    def attach(server: grpc.aio.Server) -> None:
        rpc.add_CredentialsServiceServicer_to_server(servicer, server)

    def adopt(edition: Edition[CommonSettings]) -> TakeOver:
        providers = providers_of(edition.settings)
        declared, known = declared_pool(edition.settings, providers), families_of(edition.settings)
        put_catalog = current.adopt(edition)

        def take_over() -> None:
            put_catalog()
            families.clear()
            families.update(known)
            service.redeclarer.want(declared)

        return take_over

    return Bundle(
        full_name=FULL_NAME,
        attach=attach,
        start=service.start,
        aclose=service.aclose,
        allowed_callers=ALLOWED_CALLERS,
        secret_methods=SECRET_METHODS,
        readiness=service.readiness,
        adopt=adopt,
    )


def families_of(common: CommonSettings) -> dict[str, WireFamily]:
    """Return the dialect of every provider."""
    return {name: one.family for name, one in providers_of(common).items()}


def make_service(
    settings: CredentialsSettings,
    common: CommonSettings,
    families: Mapping[str, WireFamily],
    *,
    current: Current,
    clock: Clock,
) -> tuple[Service, Options]:
    """Return the service behind the gRPC face, not yet started, and what it was told.

    ``families`` are those of all providers, for as long as it runs.

    Raises:
        SettingError: the pool is inconsistent, or PostgreSQL is used without encryption keys.
    """
    providers = providers_of(common)
    options = Options(
        families=families,
        declared=declared_pool(common, providers),
        terms=Terms(
            Strategy(settings.strategy), settings.affinity_survives_warning, settings.force_prefix
        ),
        rules=Rules(
            families=families,
            family_of=family_in(current),
            is_beyond_codex=beyond_codex_in(current),
            warning_fallback_age_s=settings.warning_fallback_age_seconds,
            codex_warn_percent=settings.codex_warn_percent,
            ladder_base_s=settings.backoff_base_seconds,
            ladder_ceiling_s=settings.backoff_ceiling_seconds,
        ),
        trials=Trials(settings.trial_after_seconds, settings.trial_interval_seconds),
        transient_s=settings.transient_mark_seconds,
        defaults=Defaults(
            settings.cooling, lane_priorities(settings.default_priorities, providers)
        ),
        token_urls={
            CredentialKind.CLAUDE_OAUTH: settings.claude_token_url,
            CredentialKind.CODEX_OAUTH: settings.codex_token_url,
            CredentialKind.GEMINI_OAUTH: settings.gemini_token_url,
        },
        token_clients={
            CredentialKind.CLAUDE_OAUTH: TokenClient(settings.claude_client_id),
            CredentialKind.CODEX_OAUTH: TokenClient(settings.codex_client_id),
            CredentialKind.GEMINI_OAUTH: TokenClient(
                settings.gemini_client_id, settings.gemini_client_secret.get_secret_value()
            ),
        },
        is_affinity_on=settings.session_affinity,
        affinity_ttl_s=settings.session_affinity_seconds,
        lease_ttl_s=settings.lease_ttl_seconds,
        poll_s=settings.poll_seconds,
        # SQLite belongs to one process: nobody else can come back with an answer.
        orphan_wait_s=0.0 if database.is_sqlite(settings.database) else ORPHAN_WAIT_S,
    )
    cipher = AesGcmCipher(encryption_keys_of(settings), _key_file(settings.database))
    service = Service(
        SqlStore(settings.database),
        cipher,
        options,
        clock,
        _shared(common),
        HttpTokenEndpoint(),
        _journal(settings),
    )
    return service, options


def _shared(common: CommonSettings) -> Shared:
    url = shared_url(common, "credentials")
    if not url:
        return Alone()
    from services.credentials.adapters.valkey import ValkeyShared  # one process needs no client

    return ValkeyShared(url)


def _journal(settings: CredentialsSettings) -> TokenJournal:
    """Return where new tokens are kept until the store has them."""
    if settings.token_journal:
        return TokenFiles(Path(settings.token_journal).expanduser())
    if not database.is_sqlite(settings.database):
        return TokenFiles(Path(DEFAULT_JOURNAL).expanduser())
    path = database.sqlite_path(settings.database)
    return NoTokenFiles() if path is None else TokenFiles(path.with_suffix(".tokens"))


def encryption_keys_of(settings: CredentialsSettings) -> tuple[bytes, ...]:
    """Return the keys that are set; none: SQLite keeps a key file.

    Raises:
        SettingError: one is malformed or stands twice, or PostgreSQL has none.
    """
    keys = parse_keys([key.get_secret_value() for key in settings.encryption_keys])
    for index, key in enumerate(keys):
        if key in keys[:index]:
            raise SettingError(f"{KEYS_SETTING}.{index}", "stands there twice: remove one of them")
    if not keys and not database.is_sqlite(settings.database):
        raise SettingError(
            KEYS_SETTING,
            "must be set with a PostgreSQL database; make a key with `openssl rand -base64 32`",
        )
    return keys


def _key_file(url: str) -> Path | None:
    path = database.sqlite_path(url) if database.is_sqlite(url) else None
    return None if path is None else key_file_of(path)
