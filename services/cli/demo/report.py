"""What was played as rows: turn type, requested and served, why, tokens, cost, saving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.cli.demo.following import Seen

MICROS_PER_USD = 1_000_000


@dataclass(frozen=True, slots=True)
class Played:
    """One request and what became of it."""

    session: str
    surface: str
    requested: str
    seen: Seen


def row_of(played: Played) -> Mapping[str, object]:
    """Return one request as a row of the table."""
    decision, result = played.seen.decision, played.seen.result
    usage = result.attempt.usage if result is not None and result.HasField("attempt") else None
    served = result.served.model_id if result is not None and result.HasField("served") else None
    return {
        "session": played.session,
        "surface": played.surface,
        "turn type": played.seen.turn_type or None,
        "requested": played.requested,
        "served": served,
        "decided by": played.seen.path or None,
        "reason": decision.reason.partition(":")[0] if decision is not None else None,
        "tokens in": usage.fresh_input_token_count
        + usage.cache_read_token_count
        + usage.cache_write_token_count
        if usage is not None
        else None,
        "cached": usage.cache_read_token_count if usage is not None else None,
        "tokens out": usage.output_token_count if usage is not None else None,
        "cost_micros": _charged(played),
        "saved_micros": _saved(played),
    }


def total_of(everything: Sequence[Played]) -> Mapping[str, object]:
    """Return what all requests cost, and what they would have cost as asked for."""
    known = [
        (charged, saved)
        for played in everything
        if (charged := _charged(played)) is not None and (saved := _saved(played)) is not None
    ]
    cost = sum(charged for charged, _ in known)
    saved = sum(saved for _, saved in known)
    as_requested = cost + saved
    return {
        "requests": len(everything),
        "cost_micros": cost,
        "as_requested_micros": as_requested,
        "saved_micros": saved,
        "saved_percent": round(100 * saved / as_requested, 1) if as_requested else None,
    }


def line_of(row: Mapping[str, object]) -> Mapping[str, object]:
    """Return a row for people: few columns, money in USD."""
    tokens = [row[name] for name in ("tokens in", "cached", "tokens out")]
    return {
        "session": f"{row['session']} ({row['surface']})",
        "turn type": row["turn type"],
        "requested → served": f"{row['requested']} → {row['served'] or 'nothing'}",
        "why": _why(str(row["decided by"] or ""), str(row["reason"] or "")),
        "in/cached/out": "/".join("?" if count is None else str(count) for count in tokens),
        "cost": _usd(row["cost_micros"]),
        "saved": _usd(row["saved_micros"]),
    }


def summary_of(total: Mapping[str, object]) -> Mapping[str, object]:
    """Return the total for people: money in USD."""
    return {
        name.removesuffix("_micros").replace("_", " "): (
            _usd(value) if name.endswith("_micros") else value
        )
        for name, value in total.items()
    }


def _why(path: str, reason: str) -> str:
    return reason if reason.startswith(path) else f"{path}: {reason}"


def _charged(played: Played) -> int | None:
    result = played.seen.result
    is_known = result is not None and result.HasField("charged_micro_usd")
    return result.charged_micro_usd if result is not None and is_known else None


def _saved(played: Played) -> int | None:
    result = played.seen.result
    is_known = result is not None and result.HasField("saved_micro_usd")
    return result.saved_micro_usd if result is not None and is_known else None


def _usd(value: object) -> str | None:
    return f"${value / MICROS_PER_USD:.6f}" if isinstance(value, int) else None
