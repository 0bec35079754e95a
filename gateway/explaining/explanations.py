"""What explains decisions under one edition of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gateway.explaining.explainer import Explainer
    from gateway.explaining.listing import Listing


@dataclass(frozen=True, slots=True)
class Explanations:
    """Explains decisions and lists models, from one catalog and one policy."""

    explainer: Explainer
    listing: Listing
    versions: Mapping[str, str]
    """Versions of both, by name."""
