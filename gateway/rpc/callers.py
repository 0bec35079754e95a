"""Who calls RouterService, and which installation's actions it may watch."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.identity import bearer_token
from gateway.model import Scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gateway.ports import Keys

METADATA_KEY = "authorization"


def token_of(metadata: Iterable[tuple[str, str | bytes]] | None) -> str:
    """Return the bearer token in the metadata of a call; empty: there is none."""
    for key, value in metadata or ():
        if key.lower() == METADATA_KEY and isinstance(value, str):
            return bearer_token(value)
    return ""


@dataclass(frozen=True, slots=True)
class Callers:
    """Tells operators from callers with a router key."""

    keys: Keys
    admin_token: str = ""
    """Token of operators; empty: there are none."""

    def __repr__(self) -> str:
        """Show no token."""
        return "Callers()"

    async def visible(self, token: str, wanted_installation: str) -> str:
        """Return the installation whose actions a caller sees; empty: all of them.

        Operators choose, others see their own.

        Raises:
            RouterError: the token is nobody's, or cannot be looked up.
        """
        if self.admin_token and hmac.compare_digest(token.encode(), self.admin_token.encode()):
            return wanted_installation
        key = await self.keys.authenticate(token, Scope.ROUTING)
        return key.installation_id
