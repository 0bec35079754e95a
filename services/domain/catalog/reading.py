"""Reads catalog documents; every complaint names model, field and fix."""

from __future__ import annotations

import difflib
import hashlib
import re
from typing import TYPE_CHECKING

import orjson

from services.domain.catalog.bindings import binding_of, long_context_of
from services.domain.catalog.entries import (
    choice_of,
    day_of,
    flag_of,
    names_of,
    optional_flag_of,
    refuse_unknown,
    share_of,
    tables,
    text_of,
    whole_of,
)
from services.domain.catalog.values import (
    DEFAULT_CONTEXT_WINDOW_TOKENS,
    Catalog,
    CatalogError,
    Model,
    ModelFacts,
)
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

_MODEL_KEYS = frozenset(
    [
        "id",
        "automatic",
        "distinct",
        "tier",
        "context_window",
        "max_output_tokens",
        "tool_use",
        "agentic",
        "image_input",
        "document_input",
        "audio_input",
        "structured_output",
        "reasoning",
        "reasoning_levels",
        "reasoning_budget",
        "adaptive_thinking",
        "refused_parameters",
        "think_tag_reasoning",
        "extended_context",
        "forced_tool_use",
        "many_tools",
        "validated_calls",
        "signed_tool_history",
        "family",
        "version",
        "fallbacks",
        "scored_as",
        "skill",
        "long_context_price",
        "source",
        "as_of",
        "hmm_target",
        "bindings",
    ]
)


def build_catalog(documents: Sequence[Mapping[str, object]]) -> Catalog:
    """Return the catalog of ``documents``; a later entry of the same id replaces the earlier.

    Raises:
        CatalogError: an entry is unreadable; the message names model, field and fix.
    """
    models: dict[str, Model] = {}
    for document in documents:
        refuse_unknown(document, frozenset({"models", "schema", "as_of"}), "catalog")
        models.update(_models(document))
    for model in models.values():
        _refuse_unknown_fallbacks(model, models)
    _refuse_generations(models.values())
    digest = hashlib.sha256(orjson.dumps(list(documents), option=orjson.OPT_SORT_KEYS))
    folded = {model_id.casefold(): model_id for model_id in models}
    return Catalog(models=models, version=digest.hexdigest()[:16], _folded=folded)


def _models(document: Mapping[str, object]) -> dict[str, Model]:
    """Return the models of one document, each described once."""
    found: dict[str, Model] = {}
    for entry in tables(document.get("models", []), "models"):
        model = _model(entry)
        if model.id in found:
            raise CatalogError(f"model {model.id!r}: id is that of two entries; remove one of them")
        found[model.id] = model
    return found


def _refuse_unknown_fallbacks(model: Model, models: Collection[str]) -> None:
    for name in model.fallbacks:
        if name not in models:
            near = difflib.get_close_matches(name, models, n=1)
            fix = f"did you mean {near[0]!r}?" if near else "add it, or remove it from the list"
            raise CatalogError(f"model {model.id!r}: fallbacks names unknown model {name!r}; {fix}")


def _refuse_generations(models: Iterable[Model]) -> None:
    """Refuse two generations of one family that would compete for the same work."""
    newest: dict[str, Model] = {}
    for model in models:
        if not model.is_automatic or model.is_distinct or not model.family:
            continue
        other = newest.setdefault(model.family, model)
        if other.version != model.version:
            older, newer = sorted((other, model), key=lambda each: each.version)
            raise CatalogError(
                f"model {older.id!r}: {newer.id!r} is of the same family {model.family!r}; set"
                " automatic = false on the older, or distinct = true on one that is to stay"
            )


def _model(entry: Mapping[str, object]) -> Model:
    model_id = text_of(entry, "id", "catalog entry")
    where = f"model {model_id!r}"
    refuse_unknown(entry, _MODEL_KEYS, where)
    window = whole_of(entry, "context_window", where) or DEFAULT_CONTEXT_WINDOW_TOKENS
    max_output = whole_of(entry, "max_output_tokens", where)
    rows = tables(entry.get("bindings", []), f"{where}: bindings")
    if not rows:
        raise CatalogError(f"{where}: needs at least one [[models.bindings]] table")
    long_context = long_context_of(entry, where)
    bindings = tuple(
        binding_of(row, model_id, index, window, max_output, long_context)
        for index, row in enumerate(rows)
    )
    tier = _tier(entry, where)
    is_automatic = flag_of(entry, "automatic", where, default=True)
    return Model(
        id=model_id,
        tier=tier,
        context_window_tokens=window,
        max_output_tokens=max_output,
        facts=_facts(entry, where),
        bindings=bindings,
        fallbacks=names_of(entry, "fallbacks", where),
        family=str(entry.get("family", "")),
        source=str(entry.get("source", "")),
        skill=share_of(entry, "skill", where),
        scored_as=text_of(entry, "scored_as", where) if "scored_as" in entry else "",
        version=tuple(int(number) for number in re.findall(r"\d+", str(entry.get("version", "")))),
        is_automatic=is_automatic and tier is not ModelTier.UNKNOWN,
        is_distinct=flag_of(entry, "distinct", where, default=False),
        as_of=day_of(entry, "as_of", where),
    )


def _facts(entry: Mapping[str, object], where: str) -> ModelFacts:
    return ModelFacts(
        tool_use=choice_of(entry, "tool_use", ("full", "low", "none"), where),
        agentic=choice_of(entry, "agentic", ("full", "low"), where),
        image_input=flag_of(entry, "image_input", where, default=True),
        document_input=optional_flag_of(entry, "document_input", where),
        audio_input=optional_flag_of(entry, "audio_input", where),
        structured_output=flag_of(entry, "structured_output", where, default=True),
        reasoning=choice_of(entry, "reasoning", ("none", "optional", "always"), where),
        reasoning_levels=names_of(entry, "reasoning_levels", where),
        reasoning_budget=flag_of(entry, "reasoning_budget", where, default=False),
        adaptive_thinking=flag_of(entry, "adaptive_thinking", where, default=False),
        refused_parameters=frozenset(names_of(entry, "refused_parameters", where)),
        think_tag_reasoning=flag_of(entry, "think_tag_reasoning", where, default=False),
        extended_context=optional_flag_of(entry, "extended_context", where),
        forced_tool_use=flag_of(entry, "forced_tool_use", where, default=True),
        many_tools=flag_of(entry, "many_tools", where, default=False),
        validated_calls=flag_of(entry, "validated_calls", where, default=False),
        signed_tool_history=flag_of(entry, "signed_tool_history", where, default=False),
    )


def _tier(entry: Mapping[str, object], where: str) -> ModelTier:
    value = entry.get("tier", ModelTier.UNKNOWN.value)
    try:
        return ModelTier(str(value))
    except ValueError:
        tiers = ", ".join(tier.value for tier in ModelTier)
        raise CatalogError(f"{where}: tier must be one of {tiers}") from None
