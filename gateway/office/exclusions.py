"""The models that operators do not want to be picked by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.office.model import Operation
from gateway.office.reading import read
from gateway.settings import AutomaticExclusion
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime.schema import hint
from services.runtime.settings import Section

if TYPE_CHECKING:
    from gateway.exclusions import Exclusions
    from gateway.office.model import Document, Order

PATH = "automatic-exclusions"


class WantedExclusions(Section):
    """The whole list, in the place of the stored one."""

    excluded: tuple[AutomaticExclusion, ...]


class ExclusionDesk:
    """Keeps one list."""

    def __init__(self, exclusions: Exclusions) -> None:
        self._exclusions = exclusions

    @property
    def operations(self) -> tuple[Operation, ...]:
        """What can be asked."""
        return (Operation("GET", PATH, self.shown), Operation("PUT", PATH, self.put))

    async def shown(self, order: Order) -> Document:
        """Return the list that counts, and the models that could be on it."""
        known = self._exclusions
        models = known.catalog.models.values()
        return {
            "excluded": [each.model_dump() for each in known.effective],
            "available": sorted(model.id for model in models if model.is_automatic),
            "is_pinned": known.is_pinned,
            "config_version": known.config_version,
        }

    async def put(self, order: Order) -> Document:
        """Put another list in the place of the stored one and return what counts then.

        A model that stands there twice counts once, with its first reason.
        """
        wanted = read(WantedExclusions, order.body)
        if self._exclusions.is_pinned:
            raise RouterError(
                Reason.SCOPE_MISSING,
                "the configuration states [routing] automatic_exclusions: change it there",
                metadata={"code": "pinned_by_configuration", "field": "excluded"},
            )
        catalog = self._exclusions.catalog
        found: dict[str, AutomaticExclusion] = {}
        for index, each in enumerate(wanted.excluded):
            model = catalog.resolve(each.model)
            if model is None:
                fix = f"no model {each.model!r}; {hint(each.model, catalog.models)}"
                raise InvalidRequestError.of(f"excluded.{index}.model", fix)
            found.setdefault(model.id, AutomaticExclusion(model=model.id, reason=each.reason))
        await self._exclusions.put(tuple(found.values()))
        return await self.shown(order)
