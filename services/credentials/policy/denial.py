"""Why nothing could be picked, in words that name no credential."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from services.credentials.model import Verdict
from services.domain.errors import Reason, RouterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.credentials.model import Decision, Judged

BUSY_RETRY_S = 1.0
"""Wait suggested when every candidate is at its concurrency limit."""


def denial_of(decisions: Sequence[Decision], now_unix_s: float) -> RouterError:
    """Return the error for bindings of which none got a pick.

    Waiting helps when anything cools or is busy, so that comes first, even if others are switched
    off. A wait is in whole seconds, rounded up, at least 1.
    """
    judged = [one for decision in decisions for one in decision.barred]
    verdicts = {one.verdict for one in judged}
    facts = _facts(decisions)
    if verdicts & {Verdict.COOLING, Verdict.EXHAUSTED, Verdict.EDGE}:
        return RouterError(
            Reason.ALL_CREDENTIALS_COOLING,
            "every credential that could serve is cooling down",
            metadata=facts,
            retry_after_s=_wait_s(judged, now_unix_s),
        )
    if Verdict.BUSY in verdicts:
        return RouterError(
            Reason.CREDENTIAL_CONCURRENCY,
            "every credential that could serve runs as many requests as it may",
            metadata=facts,
            retry_after_s=BUSY_RETRY_S,
        )
    if Verdict.TRIED in verdicts:
        return RouterError(
            Reason.ALL_CREDENTIALS_TRIED,
            "every credential that could serve was tried for this action",
            metadata=facts,
        )
    if verdicts & {Verdict.DISABLED, Verdict.AUTH}:
        return RouterError(
            Reason.CREDENTIALS_UNAVAILABLE,
            "credentials exist, but all are switched off, refused, without a token now, or need a"
            " new login",
            metadata=facts,
            retry_after_s=_wait_s(judged, now_unix_s) if Verdict.AUTH in verdicts else None,
        )
    if Verdict.UNSUPPORTED in verdicts:
        return RouterError(
            Reason.NO_ELIGIBLE_PROVIDER,
            f"every endpoint at hand said that it has no model {facts['models']}",
            metadata=facts,
        )
    if any(decision.is_gateway_exclusive for decision in decisions):
        return RouterError(
            Reason.GATEWAY_SERVES_NO_SUCH_MODEL,
            f"no gateway key aliases {facts['models']}: add an alias for it",
            metadata=facts,
        )
    return RouterError(
        Reason.NO_ELIGIBLE_PROVIDER,
        f"no credential is configured for {facts['models']}: set an api_key for one of"
        f" {facts['providers']}",
        metadata=facts,
    )


def _wait_s(judged: Sequence[Judged], now_unix_s: float) -> float:
    waits = [one.until_unix_s - now_unix_s for one in judged if one.until_unix_s is not None]
    return float(max(1, math.ceil(min(waits, default=1.0))))


def _facts(decisions: Sequence[Decision]) -> dict[str, str]:
    models = sorted({d.binding.model_id for d in decisions if d.binding.model_id})
    providers = sorted({d.binding.provider for d in decisions})
    return {"models": ", ".join(models) or "this request", "providers": ", ".join(providers)}
