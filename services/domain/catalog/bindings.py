"""Reads the bindings of catalog entries: where a model is served, how, and at what price."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.catalog.entries import (
    choice_of,
    day_of,
    flag_of,
    members_of,
    price_of,
    ratio_of,
    refuse_unknown,
    tables,
    text_of,
    whole_of,
)
from services.domain.catalog.values import (
    OPENAI_FAMILIES,
    Binding,
    CatalogError,
    FastPrice,
    LongContextPrice,
    Price,
    Quirks,
)
from services.domain.vocab import WireFamily

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        "wire_family",
        "codex_plan",
        "source",
        "as_of",
    ]
)


TOOL_GUIDANCE = ("", "exact_edits", "edit_tools")
"""Lines about tools that a binding may ask for."""

_LONG_CONTEXT_KEYS = frozenset(["above_tokens", "input_usd_per_mtok", "output_usd_per_mtok"])


def binding_of(
    row: Mapping[str, object],
    model_id: str,
    index: int,
    window: int,
    max_output: int | None,
    long_context: LongContextPrice | None,
) -> Binding:
    """Return the binding that a row describes; what it leaves out is its model's."""
    where = f"model {model_id!r}, binding {index}"
    refuse_unknown(row, _BINDING_KEYS, where)
    wish = choice_of(row, "wire_family", ("", *sorted(OPENAI_FAMILIES)), where)
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
        wire_family=WireFamily(wish) if wish else None,
        is_in_codex_plan=flag_of(row, "codex_plan", where, default=False),
        source=str(row.get("source", "")),
        as_of=day_of(row, "as_of", where),
    )


def long_context_of(entry: Mapping[str, object], where: str) -> LongContextPrice | None:
    """Return the rates of a model's long prompts; None when it has no others for them."""
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
