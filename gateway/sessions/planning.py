"""What the planner has to know of a session. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gateway.sessions.risks import mean_risk
from gateway.sessions.usage import cache_state, last_use_of, leftover_tokens, prefix_tokens

if TYPE_CHECKING:
    from gateway.sessions.model import CacheState, Choice, Session


@dataclass(frozen=True, slots=True)
class Outlook:
    """The session's side of a plan: names and units are those of the planner's contract."""

    has_completed_action: bool
    cache_state: CacheState
    cacheable_prefix_tokens: int | None
    """None: not known."""
    output_tokens: int
    pin_mean_risk: float | None
    fresh_mean_risk: float | None
    leftover_prefix_tokens: int


def outlook(
    session: Session,
    pin: Choice,
    fresh: Choice,
    input_tokens: int,
    now_unix_s: float,
    *,
    pin_fingerprint: str | None = None,
    fresh_fingerprint: str = "",
    is_trim_breaking: bool = True,
) -> Outlook:
    """Return what a plan between ``pin`` and ``fresh`` rests on.

    The session has the risks of this action already. ``pin_fingerprint`` is the credential that the
    pin would be served by now; None: not known. Leftovers count only where ``fresh_fingerprint``
    names the credential of the fresh side: empty until returns are seen to be worth it.
    """
    use = last_use_of(session, pin)
    leftover = 0
    if fresh_fingerprint:
        leftover = leftover_tokens(session, fresh, fresh_fingerprint, input_tokens, now_unix_s)
    last = session.last_use
    return Outlook(
        has_completed_action=use is not None,
        cache_state=cache_state(
            session,
            pin,
            now_unix_s,
            next_fingerprint=pin_fingerprint,
            is_trim_breaking=is_trim_breaking,
        ),
        cacheable_prefix_tokens=prefix_tokens(session, pin, input_tokens),
        output_tokens=last.tokens.output if last is not None else 0,
        pin_mean_risk=mean_risk(session, pin.model_id),
        fresh_mean_risk=mean_risk(session, fresh.model_id),
        leftover_prefix_tokens=leftover,
    )
