"""Reads catalog documents; every complaint names model, field and fix."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import orjson

from services.domain.catalog.entries import (
    choice_of,
    flag_of,
    members_of,
    names_of,
    optional_flag_of,
    price_of,
    ratio_of,
    refuse_unknown,
    share_of,
    tables,
    text_of,
    whole_of,
)
from services.domain.catalog.values import (
    DEFAULT_CONTEXT_WINDOW_TOKENS,
    Binding,
    Catalog,
    CatalogError,
    FastPrice,
    LongContextPrice,
    Model,
    ModelFacts,
    Price,
    Quirks,
)
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MODEL_KEYS = frozenset(
    [
        "id",
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
_BINDING_KEYS = frozenset(
    [
        "provider",
        "upstream_id",
        "input_usd_per_mtok",
        "output_usd_per_mtok",
        "cache_read_multiplier",
        "cache_write_multiplier",
        "cache_write_1h_multiplier",
        "context_window",
        "max_output_tokens",
        "fast_input_usd_per_mtok",
        "fast_output_usd_per_mtok",
        "fast_cache_read_multiplier",
        "extra_members",
        "extra_members_with_tools",
        "tool_guidance",
        "source",
        "as_of",
    ]
)


TOOL_GUIDANCE = ("", "exact_edits", "edit_tools")
"""Lines about tools that a binding may ask for."""

_LONG_CONTEXT_KEYS = frozenset(["above_tokens", "input_usd_per_mtok", "output_usd_per_mtok"])


def build_catalog(documents: Sequence[Mapping[str, object]]) -> Catalog:
    """Return the catalog of ``documents``; a later entry of the same id replaces the earlier.

    Raises:
        CatalogError: an entry is unreadable; the message names model, field and fix.
    """
    models: dict[str, Model] = {}
    for document in documents:
        refuse_unknown(document, frozenset({"models", "schema", "as_of"}), "catalog")
        for entry in tables(document.get("models", []), "models"):
            model = _model(entry)
            models[model.id] = model
    for model in models.values():
        for name in model.fallbacks:
            if name not in models:
                raise CatalogError(f"model {model.id!r}: fallbacks names unknown model {name!r}")
    digest = hashlib.sha256(orjson.dumps(list(documents), option=orjson.OPT_SORT_KEYS))
    folded = {model_id.casefold(): model_id for model_id in models}
    return Catalog(models=models, version=digest.hexdigest()[:16], _folded=folded)


def _model(entry: Mapping[str, object]) -> Model:
    model_id = text_of(entry, "id", "catalog entry")
    where = f"model {model_id!r}"
    refuse_unknown(entry, _MODEL_KEYS, where)
    window = whole_of(entry, "context_window", where) or DEFAULT_CONTEXT_WINDOW_TOKENS
    max_output = whole_of(entry, "max_output_tokens", where)
    rows = tables(entry.get("bindings", []), f"{where}: bindings")
    if not rows:
        raise CatalogError(f"{where}: needs at least one [[models.bindings]] table")
    long_context = _long_context(entry, where)
    bindings = tuple(
        _binding(row, model_id, index, window, max_output, long_context)
        for index, row in enumerate(rows)
    )
    return Model(
        id=model_id,
        tier=_tier(entry, where),
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
    )


def _binding(
    row: Mapping[str, object],
    model_id: str,
    index: int,
    window: int,
    max_output: int | None,
    long_context: LongContextPrice | None,
) -> Binding:
    where = f"model {model_id!r}, binding {index}"
    refuse_unknown(row, _BINDING_KEYS, where)
    price = Price(
        input_usd_per_mtok=price_of(row, "input_usd_per_mtok", where),
        output_usd_per_mtok=price_of(row, "output_usd_per_mtok", where),
        cache_read_multiplier=ratio_of(row, "cache_read_multiplier", where),
        cache_write_multiplier=ratio_of(row, "cache_write_multiplier", where),
        cache_write_1h_multiplier=ratio_of(row, "cache_write_1h_multiplier", where),
        long_context=long_context,
        fast=_fast_price(row, where),
    )
    return Binding(
        model_id=model_id,
        provider=text_of(row, "provider", where),
        upstream_id=str(row.get("upstream_id") or model_id),
        index=index,
        price=price,
        context_window_tokens=whole_of(row, "context_window", where) or window,
        max_output_tokens=whole_of(row, "max_output_tokens", where) or max_output,
        quirks=Quirks(
            members=members_of(row, "extra_members", where),
            tool_members=members_of(row, "extra_members_with_tools", where),
            tool_guidance=choice_of(row, "tool_guidance", TOOL_GUIDANCE, where),
        ),
    )


def _long_context(entry: Mapping[str, object], where: str) -> LongContextPrice | None:
    if "long_context_price" not in entry:
        return None
    where = f"{where}: long_context_price"
    (row,) = tables([entry["long_context_price"]], where)
    refuse_unknown(row, _LONG_CONTEXT_KEYS, where)
    above = whole_of(row, "above_tokens", where)
    if above is None:
        raise CatalogError(f"{where}: above_tokens must be set, in tokens, over 0")
    return LongContextPrice(
        above_tokens=above,
        input_usd_per_mtok=price_of(row, "input_usd_per_mtok", where),
        output_usd_per_mtok=price_of(row, "output_usd_per_mtok", where),
    )


def _fast_price(row: Mapping[str, object], where: str) -> FastPrice | None:
    if not any(key.startswith("fast_") for key in row):
        return None
    return FastPrice(
        input_usd_per_mtok=price_of(row, "fast_input_usd_per_mtok", where),
        output_usd_per_mtok=price_of(row, "fast_output_usd_per_mtok", where),
        cache_read_multiplier=ratio_of(row, "fast_cache_read_multiplier", where),
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
