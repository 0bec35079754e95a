"""Sessions, choices and answers to test with."""

from __future__ import annotations

from gateway.model import InstallationId
from gateway.sessions.model import Address, BindingUse, Choice, Session, TokenCounts
from gateway.sessions.pins import write_pin

NOW = 1_750_000_000.0
ADDRESS = Address(b"\x01" * 16, "default_high", InstallationId("inst"))
EMPTY = Session(ADDRESS)


def choice(model_id: str = "large", provider: str = "acme", **members: str) -> Choice:
    return Choice(model_id, provider, **{"strategy": "cluster", **members})


def pinned(
    session: Session = EMPTY, made: Choice | None = None, now_unix_s: float = NOW
) -> Session:
    return write_pin(session, made or choice(), now_unix_s, basis_epoch=session.pin_epoch)


def use(
    model_id: str = "large",
    provider: str = "acme",
    *,
    fingerprint: str = "f1",
    tokens: TokenCounts | None = None,
    at_unix_s: float = NOW,
    epoch: int = 0,
    is_output_limited: bool = False,
) -> BindingUse:
    return BindingUse(
        model_id=model_id,
        provider=provider,
        fingerprint=fingerprint,
        tokens=tokens or TokenCounts(fresh=1000, cache_read=30_000, cache_write=8_000, output=600),
        started_unix_s=at_unix_s,
        ended_unix_s=at_unix_s + 10,
        cache_ttl_s=300.0,
        history_epoch=epoch,
        is_output_limited=is_output_limited,
    )
