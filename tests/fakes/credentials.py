"""The credentials service as dispatch sees it, by hand: keys by provider, reports kept."""

from __future__ import annotations

from dataclasses import dataclass, field

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
    queries: list[SecretQuery] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)

    async def acquire(self, query: SecretQuery) -> Access:
        self.queries.append(query)
        provider = query.binding.provider
        if provider in self.denials:
            raise self.denials[provider]
        number = len(self.queries)
        if provider not in self.keys:
            grant = Grant(f"g{number}", query.binding, attribution_of("none", CredentialKind.NONE))
            return Access(grant, NO_AUTH, proxy_url=self.proxies.get(provider, ""))
        for key in self.keys[provider]:
            if key not in query.tried:
                grant = Grant(
                    grant_id=f"g{number}",
                    binding=query.binding,
                    attribution=attribution_of(key),
                    credential_id=key,
                    credential_version=1,
                    secret_cache_key=f"cache-{key}",
                )
                return Access(grant, Auth(AuthScheme.BEARER, key))
        raise CredentialDenied(
            FailureClass.CREDENTIALS_DISABLED, "every credential was tried", is_all_tried=True
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
