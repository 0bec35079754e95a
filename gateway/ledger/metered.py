"""An answer whose parts pass the ledger on their way to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import RouterError

if TYPE_CHECKING:
    from gateway.ledger.ports import Account
    from gateway.model import Part
    from gateway.ports import Answer


class Metered:
    """Dispatch's answer, with the account that it settles."""

    def __init__(self, answer: Answer, account: Account) -> None:
        self._answer = answer
        self.account = account

    async def read(self) -> Part | None:
        """Return the next part, or None after the last.

        Raises:
            RouterError: a service of ours failed, or the answer was cut.
        """
        try:
            part = await self._answer.read()
        except RouterError:
            self.account.broke()
            raise
        if part is None:
            self.account.broke()
        else:
            self.account.saw(part)
        return part

    def cancel(self) -> None:
        """End the walk."""
        self._answer.cancel()
