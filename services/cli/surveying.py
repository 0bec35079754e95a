"""What a running router says that it can serve to the holder of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from services.cli.asking import Asker

SERVING_PATH = "/v1/router/models"
SERVED = frozenset({"EXCLUSION_LAYER_UNSPECIFIED", "EXCLUSION_LAYER_AUTOMATIC"})
"""Layers under which a model serves whoever names it."""


async def served_models(asker: Asker) -> tuple[str, ...]:
    """Return the models that can serve, in the catalog's order.

    Raises:
        StartError: the router is not there, or refuses the key.
    """
    listed = (await asker.get(SERVING_PATH)).document.get("models")
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    return tuple(str(row.get("model_id")) for row in rows if row.get("layer") in SERVED)
