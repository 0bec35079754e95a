"""What can serve an installation: the snapshot that gateways decide with."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from services.credentials.model import (
    NO_SUBJECT,
    Availability,
    Bucket,
    GatewayKey,
    MarkKind,
    ProviderColour,
    Refusal,
    Snapshot,
)
from services.credentials.policy.headroom import headroom_of
from services.credentials.policy.plans import plan_colours
from services.credentials.policy.standing import standing_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from services.credentials.model import Credential, InFlight, Pool, Usage


def snapshot_of(
    pool: Pool,
    installation_id: str,
    in_flight: InFlight,
    now_unix_s: float,
    usage_of: Callable[[str], Usage] = lambda _: (),
) -> Snapshot:
    """Return what can serve an installation now; equal contents have equal versions.

    ``usage_of`` says what was last observed of an account's windows.
    """
    lanes = {
        name: lane
        for name in sorted(pool.by_provider)
        if (lane := pool.visible_to(installation_id, name))
    }
    seen = [credential for lane in lanes.values() for credential in lane]
    is_exclusive = installation_id in pool.gateway_tenants
    found = Snapshot(
        installation_id=installation_id,
        version="",
        providers=tuple(
            replace(
                _colour(name, lane, in_flight, now_unix_s),
                headroom=headroom_of(lane, usage_of, now_unix_s),
            )
            for name, lane in lanes.items()
        ),
        plans=plan_colours(seen, usage_of, now_unix_s),
        is_gateway_exclusive=is_exclusive,
        gateway_keys=tuple(
            GatewayKey(c.spec.provider, c.fingerprint, c.spec.upstream_id_by_model)
            for c in seen
            if is_exclusive
        ),
        refusals=_refusals(seen, now_unix_s),
        has_tenant_credentials=any(
            c.spec.installation_id == installation_id for c in seen if c.spec.installation_id
        ),
        passed_over=_passed_over(lanes.values(), now_unix_s),
    )
    digest = hashlib.sha256(repr(found).encode()).hexdigest()[:32]
    return replace(found, version=digest)


def _colour(
    name: str, lane: tuple[Credential, ...], in_flight: InFlight, now_unix_s: float
) -> ProviderColour:
    usable = [c for c in lane if c.is_usable]
    standings = {c.id: standing_of(c, NO_SUBJECT, now_unix_s) for c in usable}
    unblocked = [c for c in usable if standings[c.id].verdict is None]
    free = [c for c in unblocked if not _is_full(c, in_flight)]
    recover = None
    if any(standings[c.id].bucket is Bucket.CLEAN for c in free):
        availability = Availability.USABLE
    elif free:
        availability = Availability.WARNED
    elif unblocked:
        availability = Availability.BUSY
    elif usable:
        availability = Availability.COOLING
        ends = (standing.until_unix_s for standing in standings.values())
        recover = min((end for end in ends if end is not None), default=None)
    else:
        availability = Availability.DISABLED
    shown = usable or lane
    return ProviderColour(
        provider=name,
        availability=availability,
        owners=tuple(sorted({c.spec.owner for c in shown})),
        kinds=tuple(sorted({c.spec.kind for c in shown})),
        recover_unix_s=recover,
    )


def _is_full(credential: Credential, in_flight: InFlight) -> bool:
    limit = credential.spec.max_in_flight
    return bool(limit) and in_flight.by_credential.get(credential.id, 0) >= limit


def _refusals(seen: Iterable[Credential], now_unix_s: float) -> tuple[Refusal, ...]:
    return tuple(
        Refusal(c.spec.provider, c.fingerprint, mark.model_id, mark.expire_unix_s)
        for c in seen
        for mark in c.marks
        if mark.kind is MarkKind.UNSUPPORTED
        and mark.expire_unix_s is not None
        and mark.is_active(now_unix_s)
    )


def _passed_over(lanes: Iterable[tuple[Credential, ...]], now_unix_s: float) -> tuple[str, ...]:
    passed: set[str] = set()
    for lane in lanes:
        standings = {c.id: standing_of(c, NO_SUBJECT, now_unix_s) for c in lane if c.is_usable}
        free = {id_: one.bucket for id_, one in standings.items() if one.verdict is None}
        best = min(free.values(), default=None)
        passed |= {c.fingerprint for c in lane if free.get(c.id) is not best or best is None}
    return tuple(sorted(passed))
