"""Opens the store of a configuration for an operator, without serving anything."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from pointsman.credentials.v1 import credentials_pb2_grpc as rpc

from services.credentials.build import ALLOWED_CALLERS, families_of, make_service
from services.credentials.server import CredentialsServicer
from services.runtime.admission import Admission
from services.runtime.inprocess import InProcessServer
from services.runtime.interceptors import ServerEdge
from services.runtime.reloading import Current

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from services.credentials.settings import CredentialsSettings
    from services.domain.catalog import Catalog
    from services.runtime.channel import Channel
    from services.runtime.clock import Clock
    from services.runtime.settings import CommonSettings

OPERATOR = "operator"
"""The caller that a command is."""


@contextlib.asynccontextmanager
async def opened(
    settings: CredentialsSettings, common: CommonSettings, catalog: Catalog, clock: Clock
) -> AsyncIterator[Channel]:
    """Give a channel to the service over the store of a configuration.

    The declared pool is left as it is stored; running servers adopt what is changed.

    Raises:
        StartError: the store cannot be used.
        SettingError: a setting cannot be used.
    """
    current, families = Current(catalog), families_of(common)
    service, options = make_service(settings, common, families, current=current, clock=clock)
    rules = Admission("credentials", ALLOWED_CALLERS, is_logged=False)
    server = InProcessServer([ServerEdge(rules)])
    servicer = CredentialsServicer(service, options, clock)
    rpc.add_CredentialsServiceServicer_to_server(servicer, server)  # type: ignore[arg-type]  # registers by duck type
    try:
        await service.vault.start(None)
        yield server.channel(OPERATOR)
    finally:
        await service.vault.aclose()
