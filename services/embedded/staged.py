"""The services of the one process, each imported only where it runs."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from services.embedded.settings import Settings
    from services.runtime.host import Bundle
    from services.runtime.parts import Build, S
    from services.runtime.settings import ServiceSettings


@dataclass(frozen=True, slots=True)
class Part:
    """One service: its settings, and what builds it from catalog, clock and channels."""

    settings: ServiceSettings
    build: Callable[..., Bundle]


def part(name: str, settings: Settings) -> Part:
    """Return the service of that short name."""
    return _PARTS[name](settings)


def _credentials(settings: Settings) -> Part:
    from services.credentials.build import build

    return _bound(build, settings.services.credentials, settings)


def _dispatch(settings: Settings) -> Part:
    from services.dispatch.build import build

    return _bound(build, settings.services.dispatch, settings)


def _handover(settings: Settings) -> Part:
    from services.handover.build import build

    return _bound(build, settings.services.handover, settings)


def _planner(settings: Settings) -> Part:
    from services.planner.build import build

    return _bound(build, settings.services.planner, settings)


def _scorer(settings: Settings) -> Part:
    from services.scorer.build import build

    return _bound(build, settings.services.scorer, settings)


def _bound(build: Build[S], own: S, settings: Settings) -> Part:
    return Part(own, functools.partial(build, own, settings))


_PARTS: Mapping[str, Callable[[Settings], Part]] = {
    "credentials": _credentials,
    "dispatch": _dispatch,
    "handover": _handover,
    "planner": _planner,
    "scorer": _scorer,
}

ORDER = tuple(_PARTS)
"""The services by name, each after those that it calls."""
