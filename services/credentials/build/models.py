"""What selection asks of the catalog in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.runtime.reloading import Current


def family_in(current: Current) -> Callable[[str], str]:
    """Return what says a model's family; one without is a family of its own."""

    def family_of(model_id: str) -> str:
        model = current.catalog.models.get(model_id)
        return model.family or model_id if model is not None else model_id

    return family_of


def beyond_codex_in(current: Current) -> Callable[[str], bool]:
    """Return what says that no Codex plan covers a model; of unknown ones nobody knows that."""

    def is_beyond(model_id: str) -> bool:
        model = current.catalog.models.get(model_id)
        return model is not None and not any(each.is_in_codex_plan for each in model.bindings)

    return is_beyond
