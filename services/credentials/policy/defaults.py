"""What holds for credentials that do not say it themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.credentials.model import CoolingPolicy

if TYPE_CHECKING:
    from services.credentials.model import CredentialSpec


@dataclass(frozen=True, slots=True)
class Defaults:
    """Settings of the service that follow into each credential."""

    is_cooling: bool = True
    priorities: Mapping[str, int] = field(default_factory=dict)
    """By lane: ``provider`` or ``provider/kind``, of which the latter wins."""

    def cools(self, spec: CredentialSpec) -> bool:
        """Return whether quota marks block a credential."""
        if spec.cooling is CoolingPolicy.INHERIT:
            return self.is_cooling
        return spec.cooling is CoolingPolicy.ON

    def priority(self, spec: CredentialSpec) -> int:
        """Return the priority of a credential that states none."""
        of_provider = self.priorities.get(spec.provider, 0)
        return self.priorities.get(f"{spec.provider}/{spec.kind.value}", of_provider)
