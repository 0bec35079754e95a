"""The model catalog as immutable values: models, their bindings, prices and emitter facts.

Built from plain documents (parsed TOML) by :func:`build_catalog`; reading files is somebody else's
job. Every service reads the same documents, so ``version`` tells whether two of them agree.
"""

from __future__ import annotations

from services.domain.catalog.reading import build_catalog
from services.domain.catalog.values import (
    DEFAULT_CONTEXT_WINDOW_TOKENS,
    OPENAI_FAMILIES,
    PROVIDER_FAMILIES,
    Binding,
    Catalog,
    CatalogError,
    FastPrice,
    LongContextPrice,
    Model,
    ModelFacts,
    Price,
    Quirks,
    strip_client_tag,
)

__all__ = [
    "DEFAULT_CONTEXT_WINDOW_TOKENS",
    "OPENAI_FAMILIES",
    "PROVIDER_FAMILIES",
    "Binding",
    "Catalog",
    "CatalogError",
    "FastPrice",
    "LongContextPrice",
    "Model",
    "ModelFacts",
    "Price",
    "Quirks",
    "build_catalog",
    "strip_client_tag",
]
