"""What providers answer to unbilled questions: their model lists and token counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.wire.reading import count, mapping, peek, text, well_formed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.domain.catalog import Catalog


@dataclass(frozen=True, slots=True)
class UpstreamModel:
    """One model as its provider names it; 0 tokens: the provider does not say."""

    upstream_id: str
    display_name: str = ""
    context_window_tokens: int = 0
    max_output_tokens: int = 0
    model_id: str = ""
    """Catalog id that is bound to it; empty: none."""


def models_of(body: bytes, provider: str, catalog: Catalog) -> tuple[UpstreamModel, ...] | None:
    """Return a provider's list, ordered by upstream id; None: the answer is none."""
    listed = mapping(peek(body)).get("data")
    if not isinstance(listed, list):
        return None
    bound = {
        row.upstream_id: row.model_id
        for model in catalog.models.values()
        for row in model.bindings
        if row.provider == provider
    }
    found: dict[str, UpstreamModel] = {}
    for raw in listed:
        entry = mapping(raw)
        name = well_formed(entry.get("id"))
        if name:
            found[name] = UpstreamModel(
                upstream_id=name,
                display_name=well_formed(text(entry.get("display_name")) or entry.get("name")),
                context_window_tokens=_tokens(entry, "context_window", "context_length"),
                max_output_tokens=_tokens(entry, "max_output_tokens", "max_tokens"),
                model_id=bound.get(name, ""),
            )
    return tuple(found[name] for name in sorted(found))


def page_of(
    models: Sequence[UpstreamModel], after: str, size: int
) -> tuple[tuple[UpstreamModel, ...], str]:
    """Return the page after an upstream id, and the id that the next page begins after."""
    rest = [model for model in models if model.upstream_id > after]
    page = tuple(rest[:size])
    return page, page[-1].upstream_id if len(rest) > size else ""


def _tokens(entry: object, *names: str) -> int:
    members = mapping(entry)
    return next((told for name in names if (told := count(members.get(name)))), 0)
