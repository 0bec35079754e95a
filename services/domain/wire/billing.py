"""One client's first system line, which changes with every conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.wire.model import SystemBlock

_HEADER = "x-anthropic-billing-header"


def without_billing_header(blocks: Sequence[SystemBlock]) -> list[SystemBlock] | None:
    """Return the system blocks without that line; None when it is not there.

    It would ruin every prefix cache of a vendor that does not know to skip it.
    """
    if not blocks or not blocks[0].text.startswith(_HEADER):
        return None
    rest = blocks[0].text.partition("\n")[2]
    first = [replace(blocks[0], text=rest, cache=None, raw=b"")] if rest else []
    return [*first, *blocks[1:]]
