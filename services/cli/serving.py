"""Serves the product: all of it, or one part."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def serve(part: str, file: Path | None) -> int:
    """Run ``part``, everything where it is empty, and return the exit code.

    Only what is served is imported, so that an image needs no more than that.
    """
    gc.disable()  # imports leave no garbage; running what they made switches it on
    match part:
        case "gateway":
            from services.embedded import apart

            return apart.main(file)
        case "scorer":
            from services.runtime import parts
            from services.scorer.build import build as build_scorer
            from services.scorer.settings import ScorerSettings

            return parts.main(part, ScorerSettings, build_scorer, file)
        case "planner":
            from services.planner.build import build as build_planner
            from services.planner.settings import PlannerSettings
            from services.runtime import parts

            return parts.main(part, PlannerSettings, build_planner, file)
        case "handover":
            from services.handover.build import build as build_handover
            from services.handover.build import peer_message_bytes
            from services.handover.settings import HandoverSettings
            from services.runtime import parts

            return parts.main(
                part, HandoverSettings, build_handover, file, peer_sizes=peer_message_bytes
            )
        case "credentials":
            from services.credentials.build import build as build_credentials
            from services.credentials.settings import CredentialsSettings
            from services.runtime import parts

            return parts.main(part, CredentialsSettings, build_credentials, file)
        case "dispatch":
            from services.dispatch.build import build as build_dispatch
            from services.dispatch.settings import DispatchSettings
            from services.runtime import parts

            return parts.main(part, DispatchSettings, build_dispatch, file)
    from services.embedded import host

    return host.main(file)
