"""The pool as one immutable snapshot: what a pick reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.credentials.model.credential import Credential


MAX_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Pool:
    """All credentials at one revision, in id order, with look-ups by id and by provider."""

    revision: int
    by_id: Mapping[str, Credential] = field(default_factory=dict)
    by_provider: Mapping[str, tuple[Credential, ...]] = field(default_factory=dict, repr=False)
    gateway_tenants: frozenset[str] = frozenset()
    """Tenants that hold a gateway key and are served by those alone."""
    _visible: dict[tuple[str, str], tuple[Credential, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Answers of :meth:`visible_to` so far."""

    @classmethod
    def of(cls, revision: int, credentials: Iterable[Credential]) -> Pool:
        """Return the pool of these credentials."""
        ordered = sorted(credentials, key=lambda credential: credential.id)
        lanes: dict[str, list[Credential]] = {}
        for credential in ordered:
            lanes.setdefault(credential.spec.provider, []).append(credential)
        return cls(
            revision=revision,
            by_id={credential.id: credential for credential in ordered},
            by_provider={name: tuple(lane) for name, lane in lanes.items()},
            gateway_tenants=frozenset(
                c.spec.installation_id
                for c in ordered
                if c.spec.kind is CredentialKind.GATEWAY and c.spec.installation_id
            ),
        )

    def visible_to(self, installation_id: str, provider: str) -> tuple[Credential, ...]:
        """Return the credentials of a provider that may serve a tenant, in id order.

        A tenant with keys of its own at a provider is served by those alone there, so that the
        deployment never pays by surprise; one with a gateway key by its gateway keys alone. A
        credential without a secret serves only where none with one exists.
        """
        key = (installation_id, provider)
        found = self._visible.get(key)
        if found is None:
            if len(self._visible) >= MAX_REMEMBERED:
                self._visible.clear()
            found = self._visible[key] = self._visible_to(installation_id, provider)
        return found

    def _visible_to(self, installation_id: str, provider: str) -> tuple[Credential, ...]:
        lane = self.by_provider.get(provider, ())
        if not installation_id or all(not c.spec.installation_id for c in lane):
            lane = tuple(c for c in lane if not c.spec.installation_id)
        else:
            own = tuple(c for c in lane if c.spec.installation_id == installation_id)
            lane = own or tuple(c for c in lane if not c.spec.installation_id)
        if installation_id in self.gateway_tenants:
            return tuple(
                c for c in lane if c.spec.kind is CredentialKind.GATEWAY and c.spec.installation_id
            )
        keyed = tuple(c for c in lane if c.spec.kind is not CredentialKind.NONE)
        return keyed or lane
