"""The credentials that configuration states, as values."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from services.credentials.model import CoolingPolicy, CredentialSpec, Origin, OveragePolicy, Secrets
from services.credentials.policy.declared import Declared
from services.domain.vocab import CredentialKind
from services.runtime.config import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from services.runtime.providers import Provider
    from services.runtime.settings import CommonSettings, CredentialSettings


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


def lane_priorities(
    priorities: Mapping[str, int], providers: Mapping[str, Provider]
) -> Mapping[str, int]:
    """Return the priorities of lanes as they are set.

    Raises:
        SettingError: one is of a lane that does not exist.
    """
    kinds = {kind.value for kind in CredentialKind}
    for lane in priorities:
        provider, slash, kind = lane.partition("/")
        if provider not in providers or (slash and kind not in kinds):
            raise SettingError(
                f"services.credentials.default_priorities.{lane}",
                "names no lane: write `provider` or `provider/kind`",
            )
    return priorities


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
        model_prefix=entry.model_prefix,
        base_url=entry.base_url.rstrip("/"),
        max_in_flight=entry.max_in_flight,
        max_in_flight_per_model=entry.model_max_in_flight,
        overage=OveragePolicy(entry.overage),
        cooling=CoolingPolicy(entry.cooling),
        is_overage_window_family_scoped=entry.window_scope.get("7d_oi") == "family",
        is_quota_header_trusted=entry.unified_headers,
        order=index + 1,
    )
    secrets = Secrets(
        value=secret,
        refresh_token=refresh_token,
        account_id=entry.account if entry.kind is CredentialKind.CODEX_OAUTH else "",
        project_id=entry.account if entry.kind is CredentialKind.GEMINI_OAUTH else "",
        proxy_url=entry.proxy.get_secret_value().strip(),
        headers=tuple(
            (name.lower(), value.get_secret_value()) for name, value in entry.headers.items()
        ),
        expire_unix_s=_unix_s(expires),
    )
    return Declared(spec, secrets, Origin.POOL)


def _unix_s(time: dt.datetime | float | None) -> float | None:
    """Return seconds since 1970; a time without a zone is in UTC."""
    if isinstance(time, dt.datetime):
        return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()
    return time
