"""Opens the store of a configuration for an operator, without serving anything."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from services.credentials.build import make_service
from services.credentials.codec import credential as credential_codec
from services.credentials.codec import operator as operator_codec
from services.runtime.reloading import Current

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pointsman.credentials.v1 import credentials_pb2 as pb

    from services.credentials.model import Credential
    from services.credentials.server import Service
    from services.credentials.server.resealing import Resealed
    from services.credentials.settings import CredentialsSettings
    from services.domain.catalog import Catalog
    from services.runtime.clock import Clock
    from services.runtime.settings import CommonSettings


class Desk:
    """What an operator asks, in the messages of the contract; running servers adopt the changes."""

    def __init__(self, service: Service, providers: tuple[str, ...], clock: Clock) -> None:
        self._service = service
        self._providers = providers
        self._clock = clock

    def credentials(self) -> list[pb.Credential]:
        """Return all credentials without their secrets, in the order of lists."""
        found = sorted(self._service.vault.pool.by_id.values(), key=operator_codec.sort_key)
        return [self._shown(one) for one in found]

    async def create(self, request: pb.CreateCredentialRequest) -> pb.Credential:
        """Store a credential.

        Raises:
            InvalidRequestError: a field cannot be used.
            RouterError: CREDENTIAL_DUPLICATE or STORE_UNAVAILABLE.
        """
        creation = operator_codec.decode_create(request, self._providers)
        return self._shown(await self._service.operator.create(creation))

    async def update(self, request: pb.UpdateCredentialRequest) -> pb.Credential:
        """Change a credential.

        Raises:
            InvalidRequestError: a field cannot be used, or is changed in the configuration.
            RouterError: CREDENTIAL_NOT_FOUND, VERSION_CONFLICT or STORE_UNAVAILABLE.
        """
        update = operator_codec.decode_update(request)
        return self._shown(await self._service.operator.update(update))

    async def remove(self, credential_id: str, actor: str) -> None:
        """Remove a credential.

        Raises:
            RouterError: STORE_UNAVAILABLE.
        """
        await self._service.operator.delete(credential_id, 0, actor)

    async def reset(self, credential_id: str, model_id: str, actor: str) -> int:
        """Clear the marks of a credential and return how many stood.

        Raises:
            RouterError: CREDENTIAL_NOT_FOUND or STORE_UNAVAILABLE.
        """
        _, changes = await self._service.operator.reset(credential_id, model_id, actor)
        return len(changes)

    async def reencrypt(self, actor: str) -> Resealed:
        """Seal every secret anew under the first key and return how many were.

        Raises:
            RouterError: STORE_UNAVAILABLE, or VERSION_CONFLICT.
        """
        return await self._service.reseal(actor)

    def _shown(self, credential: Credential) -> pb.Credential:
        return credential_codec.encode_credential(credential, 0, self._clock.now_unix_s())


@contextlib.asynccontextmanager
async def opened(
    settings: CredentialsSettings, common: CommonSettings, catalog: Catalog, clock: Clock
) -> AsyncIterator[Desk]:
    """Give a desk over the store of a configuration; the declared pool is left as it is stored.

    Raises:
        StartError: the store cannot be used.
        SettingError: a setting cannot be used.
    """
    service, options = make_service(settings, common, current=Current(catalog), clock=clock)
    try:
        await service.vault.start(None)
        yield Desk(service, tuple(options.families), clock)
    finally:
        await service.vault.aclose()
