"""Credentials, queries and reports that the unit tests share."""

from __future__ import annotations

from dataclasses import replace

from services.credentials.model import (
    BindingRef,
    Credential,
    CredentialSpec,
    Cursor,
    CursorKey,
    Decision,
    InFlight,
    Mark,
    Origin,
    Phase,
    Pool,
    Query,
    Report,
    Strategy,
)
from services.credentials.policy.selection import decide
from services.domain.vocab import CredentialKind

NOW = 1_750_000_000.0
TENANT = "t1"
NOBODY = InFlight({}, {})


def credential(name: str = "c1", *, marks: tuple[Mark, ...] = (), **spec: object) -> Credential:
    """Return a credential with any setting."""
    base = CredentialSpec(provider="p", kind=CredentialKind.API_KEY)
    settings = replace(base, **spec)  # type: ignore[arg-type]  # tests name any field
    return Credential(name, settings, Origin.STORED, fingerprint=f"f-{name}", marks=marks)


def query(*bindings: BindingRef, **more: object) -> Query:
    """Return a question with any field."""
    base = Query("a1", TENANT, "a1/1", bindings or (BindingRef("m", "p"),))
    return replace(base, **more)  # type: ignore[arg-type]  # tests name any field


class Turns:
    """Selects again and again, keeping cursors as the service does."""

    def __init__(self, *credentials: Credential, strategy: Strategy = Strategy.ROUND_ROBIN) -> None:
        self.pool = Pool.of(1, credentials)
        self.strategy = strategy
        self.cursors: dict[CursorKey, Cursor] = {}

    def decide(
        self,
        asked: Query | None = None,
        *,
        bound: str = "",
        in_flight: InFlight = NOBODY,
        now: float = NOW,
    ) -> Decision:
        """Return one decision and move the cursor."""
        asked = asked or query()
        found = decide(
            asked,
            asked.bindings[0],
            self.pool,
            in_flight,
            lambda key: self.cursors.get(key, Cursor()),
            bound,
            self.strategy,
            now,
        )
        if found.pick is not None:
            self.cursors[found.pick.cursor_key] = found.pick.cursor
        return found

    def picked(self, asked: Query | None = None, *, bound: str = "", now: float = NOW) -> str:
        """Return the id picked; empty: none."""
        found = self.decide(asked, bound=bound, now=now)
        return found.pick.credential.id if found.pick else ""


def report(status: int | None = 200, **more: object) -> Report:
    """Return a report of headers with any field."""
    base = Report(
        "g1",
        "a1",
        1,
        1,
        Phase.HEADERS,
        credential_id="c1",
        model_id="m",
        http_status=status,
        send_unix_s=NOW,
        observe_unix_s=NOW,
        credential_version=1,
    )
    return replace(base, **more)  # type: ignore[arg-type]  # tests name any field
