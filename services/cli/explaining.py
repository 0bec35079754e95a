"""Explains one decision of a running router: what would serve a request, and why."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from services.cli import output
from services.cli.reaching import DEFAULT_RPC, DEFAULT_SERVER, KEY_VARIABLE, checked_key
from services.runtime.launch import StartError
from services.runtime.sources import SERVER_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Document = Mapping[str, object]

MOST_EXCLUDED = 12
"""Removed models that are listed; `--json` has all of them."""


def route(
    file: Annotated[
        str,
        typer.Argument(
            help="Body of a request as JSON; `-`: standard input; none: with --follow.",
            show_default=False,
        ),
    ] = "",
    server: Annotated[
        str, typer.Option(envvar=SERVER_VARIABLE, help="Address of the router.")
    ] = DEFAULT_SERVER,
    key: Annotated[
        str, typer.Option(envvar=KEY_VARIABLE, show_default=False, help="A router key.")
    ] = "",
    surface: Annotated[
        str,
        typer.Option(
            help="`anthropic`, `openai_chat`, `openai_responses` or `gemini`; empty: as the body"
            " looks."
        ),
    ] = "",
    model: Annotated[str, typer.Option(help="Model that the path of a Gemini request names.")] = "",
    pin: Annotated[
        str, typer.Option(help="MODEL@PROVIDER that the session is pinned to; empty: none.")
    ] = "",
    rpc: Annotated[
        str, typer.Option(help="Address of its RouterService, with --follow.")
    ] = DEFAULT_RPC,
    action: Annotated[
        str, typer.Option(help="Id of the only action to follow, to its end; empty: all.")
    ] = "",
    *,
    follow: Annotated[
        bool, typer.Option("--follow", help="Show live decisions and attempts as they happen.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Explain one decision: what would serve a request now, and why. Nothing is sent upstream.

    With --follow: show what happens to live requests, attempt by attempt, until Ctrl-C.
    """
    if follow == bool(file):
        raise typer.BadParameter("name a FILE, or --follow and no file", param_hint="FILE")
    if follow:
        _followed(rpc, checked_key(key), action, as_json=json)
        return
    words = {"surface": surface, "model": model, "pin": pin}
    found = asyncio.run(_asked(_read(file), server, checked_key(key), words))
    if json:
        output.as_json_text(dict(found))
    else:
        show(found)


def _followed(rpc: str, key: str, action: str, *, as_json: bool) -> None:
    from services.cli import following

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(following.follow(rpc, key, action, as_json=as_json))


async def _asked(body: bytes, server: str, key: str, words: Mapping[str, str]) -> Document:
    from services.cli.asking import asking

    query = urlencode({name: value for name, value in words.items() if value})
    async with asking(server, key) as asker:
        answered = await asker.post(f"/v1/route{'?' if query else ''}{query}", body)
    return answered.document


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise StartError(f"{file}: {error.strerror}") from None


def show(found: Document) -> None:
    """Print an explanation for people."""
    output.facts(_summary(found), as_json=False)
    _table("candidates", [_candidate(row) for row in _rows(found, "candidates")])
    _table("filters", _rows(found, "filters"))
    excluded = _rows(found, "excluded")
    _table("removed", excluded[:MOST_EXCLUDED])
    if len(excluded) > MOST_EXCLUDED:
        print(f"… and {len(excluded) - MOST_EXCLUDED} more (--json shows all)")
    planner = found.get("planner")
    if isinstance(planner, dict):
        print("\nplanner")
        output.facts(planner, as_json=False)


def _summary(found: Document) -> Document:
    credential = found.get("credential")
    known = credential if isinstance(credential, dict) else {}
    plan = " > ".join(f"{row.get('model')}@{row.get('provider')}" for row in _rows(found, "plan"))
    return {
        "serves": f"{found.get('model')} at {found.get('provider')}",
        "reason": found.get("reason"),
        "decided by": found.get("path"),
        "verdict": found.get("verdict"),
        "strategy": found.get("strategy"),
        "turn type": found.get("turn_type"),
        "requested": found.get("requested_model") or None,
        "plan": plan,
        "credential": known.get("fingerprint") or known.get("denial"),
        "expected cost": usd(found.get("expected_cost_micros")),
        "requested would cost": usd(found.get("requested_cost_micros")),
    }


def usd(micros: object) -> str | None:
    """Return an amount of micro-USD in USD; None: it is not known."""
    return f"${micros / 1_000_000:.6f}" if isinstance(micros, int) else None


def _rows(found: Document, name: str) -> Sequence[Document]:
    rows = found.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _candidate(row: Document) -> Document:
    """Return what decides about a candidate; `--json` has all of it."""
    return {
        "model": row.get("model"),
        "provider": row.get("provider"),
        "tier": row.get("tier"),
        "score": _rounded(row.get("score")),
        "risk": _rounded(row.get("risk")),
        "expected cost": usd(row.get("expected_cost_micros")),
        "evidence": f"{row.get('evidence')} {row.get('scored_as') or ''}".rstrip(),
    }


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _table(title: str, rows: Sequence[Document]) -> None:
    if not rows:
        return
    names = dict.fromkeys(name for row in rows for name in row)
    print(f"\n{title}")
    output.table([{name: row.get(name) for name in names} for row in rows])
