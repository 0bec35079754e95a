"""The credentials service as dispatch sees it, by hand: keys by provider, reports kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from services.dispatch.model.access import (
    NO_AUTH,
    Access,
    Attribution,
    Auth,
    CredentialDenied,
    Ended,
    Grant,
    HeadersSeen,
    Report,
    SecretQuery,
)
from services.dispatch.model.enums import AuthScheme, CredentialBucket
from services.domain.vocab import CredentialKind, CredentialOwner, FailureClass


def attribution_of(
    name: str,
    kind: CredentialKind = CredentialKind.API_KEY,
    owner: CredentialOwner = CredentialOwner.OPERATOR,
) -> Attribution:
    return Attribution(
        fingerprint=name[-8:].rjust(8, "0"), kind=kind, owner=owner, bucket=CredentialBucket.CLEAN
    )


@dataclass(slots=True)
class FakeCredentials:
    """Answers the first untried key of a provider; a provider without keys needs none."""

    keys: dict[str, list[str]] = field(default_factory=dict)
    """Secrets by provider; each is its own credential id."""
    denials: dict[str, CredentialDenied] = field(default_factory=dict)
    """Refusals by provider."""
    proxies: dict[str, str] = field(default_factory=dict)
    """Proxy addresses by provider."""
    kinds: dict[str, CredentialKind] = field(default_factory=dict)
    """Kinds of the keys by provider; one that is not here has API keys."""
    kinds_of_keys: dict[str, CredentialKind] = field(default_factory=dict)
    """Kinds of single keys, whatever their provider's others are."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Names of every model at the endpoint of a provider's keys."""
    tenant_urls: dict[str, str] = field(default_factory=dict)
    """Addresses that a tenant gave, by provider."""
    renewals: dict[str, str] = field(default_factory=dict)
    """New tokens of accounts whose token was refused, by the refused one."""
    queries: list[SecretQuery] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    async def acquire(self, query: SecretQuery) -> Access:
        self.queries.append(query)
        provider = query.binding.provider
        if provider in self.denials:
            raise self.denials[provider]
        number = len(self.queries)
        if query.grant is not None and query.rejected_version:
            return self._renewed(query.grant)
        if provider not in self.keys:
            grant = Grant(f"g{number}", query.binding, attribution_of("none", CredentialKind.NONE))
            return self._located(Access(grant, NO_AUTH), provider)
        required = query.required_credential_id
        for key in self.keys[provider]:
            if key not in query.tried and required in ("", key):
                alias = self.aliases.get(provider, query.binding.upstream_id)
                grant = Grant(
                    grant_id=f"g{number}",
                    binding=replace(query.binding, upstream_id=alias),
                    attribution=attribution_of(key, self._kind_of(provider, key)),
                    credential_id=key,
                    credential_version=1,
                    secret_cache_key=f"cache-{key}",
                )
                return self._located(Access(grant, Auth(AuthScheme.BEARER, key)), provider)
        raise CredentialDenied(
            FailureClass.CREDENTIALS_DISABLED, "every credential was tried", is_all_tried=True
        )

    def _kind_of(self, provider: str, key: str) -> CredentialKind:
        kind = self.kinds.get(provider, CredentialKind.API_KEY)
        return self.kinds_of_keys.get(key, kind)

    def _renewed(self, grant: Grant) -> Access:
        fresh = self.renewals.get(grant.credential_id)
        if fresh is None:
            raise CredentialDenied(FailureClass.CREDENTIALS_DISABLED, "a person must log in")
        newer = replace(grant, credential_version=grant.credential_version + 1)
        return self._located(Access(newer, Auth(AuthScheme.BEARER, fresh)), grant.binding.provider)

    def _located(self, access: Access, provider: str) -> Access:
        return replace(
            access,
            base_url=self.tenant_urls.get(provider, ""),
            proxy_url=self.proxies.get(provider, ""),
            is_tenant_given=provider in self.tenant_urls,
        )

    def report(self, report: Report) -> None:
        self.reports.append(report)

    @property
    def endings(self) -> list[Ended]:
        """Return the ends reported, in order."""
        return [row.event for row in self.reports if isinstance(row.event, Ended)]

    @property
    def statuses(self) -> list[int]:
        """Return the statuses of the headers reported, in order."""
        return [row.event.http_status for row in self.reports if isinstance(row.event, HeadersSeen)]
