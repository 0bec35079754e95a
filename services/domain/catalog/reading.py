"""Reads catalog documents; every complaint names model, field and fix."""

from __future__ import annotations

import difflib
import hashlib
import re
from typing import TYPE_CHECKING

import orjson

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
)
from services.domain.vocab import ModelTier

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
        "source",
        "as_of",
    ]
)


_LONG_CONTEXT_KEYS = frozenset(["above_tokens", "input_usd_per_mtok", "output_usd_per_mtok"])


def build_catalog(documents: Sequence[Mapping[str, object]]) -> Catalog:
    """Return the catalog of ``documents``; a later entry of the same id replaces the earlier.

    Raises:
        CatalogError: an entry is unreadable; the message names model, field and fix.
    """
    models: dict[str, Model] = {}
    for document in documents:
        _refuse_unknown(document, frozenset({"models", "schema", "as_of"}), "catalog")
        for entry in _tables(document.get("models", []), "models"):
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
    model_id = _text(entry, "id", "catalog entry")
    where = f"model {model_id!r}"
    _refuse_unknown(entry, _MODEL_KEYS, where)
    window = _whole(entry, "context_window", where) or DEFAULT_CONTEXT_WINDOW_TOKENS
    max_output = _whole(entry, "max_output_tokens", where)
    rows = _tables(entry.get("bindings", []), f"{where}: bindings")
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
        fallbacks=_names(entry, "fallbacks", where),
        family=str(entry.get("family", "")),
        source=str(entry.get("source", "")),
        skill=_share(entry, "skill", where),
        scored_as=_text(entry, "scored_as", where) if "scored_as" in entry else "",
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
    _refuse_unknown(row, _BINDING_KEYS, where)
    price = Price(
        input_usd_per_mtok=_price(row, "input_usd_per_mtok", where),
        output_usd_per_mtok=_price(row, "output_usd_per_mtok", where),
        cache_read_multiplier=_ratio(row, "cache_read_multiplier", where),
        cache_write_multiplier=_ratio(row, "cache_write_multiplier", where),
        cache_write_1h_multiplier=_ratio(row, "cache_write_1h_multiplier", where),
        long_context=long_context,
        fast=_fast_price(row, where),
    )
    return Binding(
        model_id=model_id,
        provider=_text(row, "provider", where),
        upstream_id=str(row.get("upstream_id") or model_id),
        index=index,
        price=price,
        context_window_tokens=_whole(row, "context_window", where) or window,
        max_output_tokens=_whole(row, "max_output_tokens", where) or max_output,
    )


def _long_context(entry: Mapping[str, object], where: str) -> LongContextPrice | None:
    if "long_context_price" not in entry:
        return None
    where = f"{where}: long_context_price"
    (row,) = _tables([entry["long_context_price"]], where)
    _refuse_unknown(row, _LONG_CONTEXT_KEYS, where)
    above = _whole(row, "above_tokens", where)
    if above is None:
        raise CatalogError(f"{where}: above_tokens must be set, in tokens, over 0")
    return LongContextPrice(
        above_tokens=above,
        input_usd_per_mtok=_price(row, "input_usd_per_mtok", where),
        output_usd_per_mtok=_price(row, "output_usd_per_mtok", where),
    )


def _fast_price(row: Mapping[str, object], where: str) -> FastPrice | None:
    if not any(key.startswith("fast_") for key in row):
        return None
    return FastPrice(
        input_usd_per_mtok=_price(row, "fast_input_usd_per_mtok", where),
        output_usd_per_mtok=_price(row, "fast_output_usd_per_mtok", where),
        cache_read_multiplier=_ratio(row, "fast_cache_read_multiplier", where),
    )


def _facts(entry: Mapping[str, object], where: str) -> ModelFacts:
    return ModelFacts(
        tool_use=_choice(entry, "tool_use", ("full", "low", "none"), where),
        agentic=_choice(entry, "agentic", ("full", "low"), where),
        image_input=_flag(entry, "image_input", where, default=True),
        document_input=_optional_flag(entry, "document_input", where),
        audio_input=_optional_flag(entry, "audio_input", where),
        structured_output=_flag(entry, "structured_output", where, default=True),
        reasoning=_choice(entry, "reasoning", ("none", "optional", "always"), where),
        reasoning_levels=_names(entry, "reasoning_levels", where),
        reasoning_budget=_flag(entry, "reasoning_budget", where, default=False),
        adaptive_thinking=_flag(entry, "adaptive_thinking", where, default=False),
        refused_parameters=frozenset(_names(entry, "refused_parameters", where)),
        think_tag_reasoning=_flag(entry, "think_tag_reasoning", where, default=False),
    )


def _refuse_unknown(entry: Mapping[str, object], known: frozenset[str], where: str) -> None:
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(key, sorted(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise CatalogError(f"{where}: unknown key {key!r}{hint}")


def _tables(value: object, where: str) -> list[Mapping[str, object]]:
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise CatalogError(f"{where}: must be a list of tables")
    return value


def _text(entry: Mapping[str, object], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value:
        raise CatalogError(f"{where}: {key} must be a text that is not empty")
    return value


def _names(entry: Mapping[str, object], key: str, where: str) -> tuple[str, ...]:
    value = entry.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise CatalogError(f"{where}: {key} must be a list of texts")
    if len(set(value)) != len(value):
        raise CatalogError(f"{where}: {key} names one thing twice")
    return tuple(value)


def _whole(entry: Mapping[str, object], key: str, where: str) -> int | None:
    value = entry.get(key)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise CatalogError(f"{where}: {key} must be a whole number of tokens, 0 or more")
    return value or None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < float("inf") else None


def _price(row: Mapping[str, object], key: str, where: str) -> float:
    number = _number(row.get(key))
    if number is None:
        raise CatalogError(f"{where}: {key} must be set, in USD per million tokens, 0 or more")
    return number


def _ratio(row: Mapping[str, object], key: str, where: str) -> float | None:
    if key not in row:
        return None
    number = _number(row[key])
    if number is None:
        raise CatalogError(f"{where}: {key} must be a multiple of the input price, 0 or more")
    return number


def _share(entry: Mapping[str, object], key: str, where: str) -> float | None:
    if key not in entry:
        return None
    number = _number(entry[key])
    if number is None or number > 1:
        raise CatalogError(f"{where}: {key} must be a number from 0 to 1")
    return number


def _choice(entry: Mapping[str, object], key: str, values: Iterable[str], where: str) -> str:
    allowed = tuple(values)
    value = entry.get(key, allowed[0])
    if not isinstance(value, str) or value not in allowed:
        raise CatalogError(f"{where}: {key} must be one of {', '.join(allowed)}")
    return value


def _tier(entry: Mapping[str, object], where: str) -> ModelTier:
    value = entry.get("tier", ModelTier.UNKNOWN.value)
    try:
        return ModelTier(str(value))
    except ValueError:
        tiers = ", ".join(tier.value for tier in ModelTier)
        raise CatalogError(f"{where}: tier must be one of {tiers}") from None


def _flag(entry: Mapping[str, object], key: str, where: str, *, default: bool) -> bool:
    value = _optional_flag(entry, key, where)
    return default if value is None else value


def _optional_flag(entry: Mapping[str, object], key: str, where: str) -> bool | None:
    value = entry.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise CatalogError(f"{where}: {key} must be true or false")
