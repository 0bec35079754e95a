"""The pool as one immutable snapshot: what a pick reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model.credential import Credential


MAX_REMEMBERED = 10_000

Lane: TypeAlias = "tuple[Credential, ...]"


@dataclass(frozen=True, slots=True)
class Pool:
    """All credentials at one revision, in id order, with look-ups by id and by provider."""

    revision: int
    by_id: Mapping[str, Credential] = field(default_factory=dict)
    by_provider: Mapping[str, Lane] = field(default_factory=dict, repr=False)
    gateway_tenants: frozenset[str] = frozenset()
    """Tenants that hold a gateway key and are served by those alone."""
    prefixes: frozenset[str] = frozenset()
    """Namespaces of models that credentials have."""
    _visible: dict[tuple[str, str], tuple[str, Lane]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Answers of :meth:`lane_of` so far."""

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
            prefixes=frozenset(c.spec.model_prefix for c in ordered if c.spec.model_prefix),
            gateway_tenants=frozenset(
                c.spec.installation_id
                for c in ordered
                if c.spec.kind is CredentialKind.GATEWAY and c.spec.installation_id
            ),
        )

    def after(self, revision: int, changed: Mapping[str, Credential]) -> Pool:
        """Return the pool with some credentials replaced by newer states of theirs.

        Lanes without a change stay the same values, so that what was worked out about them holds.
        """
        if any(
            identity not in self.by_id or self.by_id[identity].spec != one.spec
            for identity, one in changed.items()
        ):
            return Pool.of(revision, {**self.by_id, **changed}.values())
        touched = {one.spec.provider for one in changed.values()}
        lanes = dict(self.by_provider)
        for name in touched:
            lanes[name] = tuple(changed.get(one.id, one) for one in lanes[name])
        return replace(
            self,
            revision=revision,
            by_id={**self.by_id, **changed},
            by_provider=lanes,
            _visible={key: seen for key, seen in self._visible.items() if key[1] not in touched},
        )

    def visible_to(self, installation_id: str, provider: str) -> Lane:
        """Return the credentials of a provider that may serve a tenant, in id order.

        A tenant with keys of its own at a provider is served by those alone there, so that the
        deployment never pays by surprise; one with a gateway key by its gateway keys alone. A
        credential without a secret serves only where none with one exists.
        """
        return self.lane_of(installation_id, provider)[1]

    def lane_of(self, installation_id: str, provider: str) -> tuple[str, Lane]:
        """Return the lane of :meth:`visible_to` and whose it is; empty: the deployment's.

        All tenants without a lane of their own get the same value.
        """
        key = (installation_id, provider)
        found = self._visible.get(key)
        if found is None:
            if len(self._visible) >= MAX_REMEMBERED:
                self._visible.clear()
            found = self._visible[key] = self._lane_of(installation_id, provider)
        return found

    def _lane_of(self, installation_id: str, provider: str) -> tuple[str, Lane]:
        lane = self.by_provider.get(provider, ())
        is_exclusive = installation_id in self.gateway_tenants
        own = tuple(c for c in lane if c.spec.installation_id == installation_id)
        if installation_id and (own or is_exclusive):
            if is_exclusive:
                own = tuple(c for c in own if c.spec.kind is CredentialKind.GATEWAY)
            return installation_id, _keyed(own)
        if installation_id:
            return self.lane_of("", provider)
        return "", _keyed(own)


def _keyed(lane: Lane) -> Lane:
    keyed = tuple(c for c in lane if c.spec.kind is not CredentialKind.NONE)
    return keyed or lane
