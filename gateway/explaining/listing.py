"""The models of the catalog, page by page, with what may serve of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.eligibility import Question
from gateway.eligibility.removals import serving_bindings
from services.domain.vocab import WireFamily
from services.domain.wire.features import features_of
from services.domain.wire.model import Request

if TYPE_CHECKING:
    from gateway.eligibility.records import Records
    from gateway.model import EligibilityRecord, InstallationId
    from gateway.ports import Credentials
    from services.domain.catalog import Catalog, Model
    from services.runtime.clock import Clock

_NOTHING = features_of(Request(WireFamily.ANTHROPIC, "", is_stream=False), 0)
"""Features of a request that asks for nothing in particular."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some models in order of their ids; ``next_token`` is empty on the last page."""

    models: tuple[Model, ...]
    next_token: str
    record: EligibilityRecord


@dataclass(frozen=True, slots=True)
class Listing:
    """Lists models for an installation."""

    credentials: Credentials
    records: Records
    catalog: Catalog
    clock: Clock

    async def page(
        self, installation_id: InstallationId, after: str, size: int, *, is_servable_only: bool
    ) -> Page:
        """Return up to ``size`` models whose id follows ``after``."""
        known = await self.credentials.eligibility(installation_id, ())
        record = self.records.freeze(
            Question(installation_id, _NOTHING, self.clock.now_unix_s(), known.snapshot)
        )
        left = [
            self.catalog.models[name]
            for name in sorted(self.catalog.models)
            if name > after
            and (not is_servable_only or serving_bindings(record, self.catalog.models[name]))
        ]
        has_more = len(left) > size
        return Page(tuple(left[:size]), left[size - 1].id if has_more else "", record)
