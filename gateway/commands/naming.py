"""The model that the name in a command means. Exact matching only. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.effort import split_effort

if TYPE_CHECKING:
    from services.domain.catalog import Catalog, Model

_VENDOR = "openai/"


@dataclass(frozen=True, slots=True)
class Named:
    """A model and the level of reasoning that its name asks for."""

    model: Model
    effort: str = ""


def named(name: str, catalog: Catalog) -> Named | None:
    """Return what a name means; None: nothing, or several models.

    A known level behind a colon is the effort. ``openai/`` demands a model that OpenAI serves
    first. The last part of an id with a slash is enough where no other model has it too.
    """
    whole = name.strip().lower()
    model = catalog.resolve(whole)
    if model is not None:
        return Named(model, catalog.effort_of(whole))
    bare, effort = split_effort(whole)
    is_vendor_said = bare.startswith(_VENDOR)
    model = _of_vendor(bare, catalog) if is_vendor_said else _by_tail(bare, catalog)
    return Named(model, effort) if model is not None else None


def _of_vendor(name: str, catalog: Catalog) -> Model | None:
    model = catalog.resolve(name.removeprefix(_VENDOR))
    is_primary = model is not None and model.bindings and model.bindings[0].provider == "openai"
    return model if is_primary else None


def _by_tail(tail: str, catalog: Catalog) -> Model | None:
    if not tail:
        return None
    found = [
        model
        for model in catalog.models.values()
        if "/" in model.id and model.id.rpartition("/")[2].lower() == tail
    ]
    return found[0] if len(found) == 1 else None
