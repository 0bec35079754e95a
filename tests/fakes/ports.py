"""Fakes of the gateway's ports: scripted peers and a key store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.model import (
    Action,
    BindingRef,
    EligibilityAnswer,
    EligibilityRecord,
    Grant,
    InstallationId,
    Part,
    Plan,
    Presented,
    PresentedIdentity,
    ProviderState,
    RouterKey,
    Snapshot,
)
from gateway.model.record import Attribution
from services.domain.errors import Reason, RouterError

INSTALLATION = InstallationId("5f0c7a4e-0000-4000-8000-000000000001")

Step = Part | float | RouterError
"""One step of a scripted answer: a part, a wait in seconds, or a fault that ends it."""


@dataclass
class FakeCredentials:
    """Answers with what it is set to; keeps what it was asked."""

    snapshot: Snapshot | None = field(
        default_factory=lambda: Snapshot("v1", (ProviderState("acme"), ProviderState("globex")))
    )
    known: dict[str, PresentedIdentity] = field(default_factory=dict)
    """Presented secret to the identity it is recognised as; others are ignored."""
    refusal: RouterError | None = None
    is_away: bool = False
    asked: list[tuple[InstallationId, tuple[Presented, ...]]] = field(default_factory=list)
    selections: list[tuple[Sequence[BindingRef], Sequence[PresentedIdentity]]] = field(
        default_factory=list
    )
    waits_s: list[float] = field(default_factory=list)

    async def eligibility(
        self, installation_id: InstallationId, presented: Sequence[Presented]
    ) -> EligibilityAnswer:
        self.asked.append((installation_id, tuple(presented)))
        if self.is_away:
            return EligibilityAnswer(None)
        pairs = [
            (item, self.known[item.presented_secret])
            for item in presented
            if item.presented_secret in self.known
        ]
        return EligibilityAnswer(self.snapshot, tuple(pairs))

    async def select(
        self,
        action: Action,
        bindings: Sequence[BindingRef],
        record: EligibilityRecord,
        presented: Sequence[PresentedIdentity],
        max_wait_s: float = 0.0,
    ) -> Grant | None:
        self.selections.append((bindings, presented))
        self.waits_s.append(max_wait_s)
        if self.is_away:
            return None
        if self.refusal is not None:
            raise self.refusal
        return Grant(0, Attribution("abcd1234"), b"")


@dataclass(frozen=True)
class Order:
    """One order that a fake dispatch was given."""

    action: Action
    record: EligibilityRecord
    plan: Plan
    grant: Grant | None
    budget_s: float


class FakeAnswer:
    """Plays the steps of one answer."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = list(steps)
        self._cancelled = asyncio.Event()
        self.was_cancelled = False

    async def read(self) -> Part | None:
        while True:
            if self.was_cancelled:
                raise RouterError(Reason.DRAINING, "cut", retry_after_s=1.0)
            if not self._steps:
                return None
            step = self._steps.pop(0)
            if isinstance(step, RouterError):
                raise step
            if not isinstance(step, float):
                return step
            await self._wait(step)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._cancelled.wait()
        except TimeoutError:
            pass

    def cancel(self) -> None:
        self.was_cancelled = True
        self._cancelled.set()


@dataclass
class FakeDispatch:
    """Answers every order with its script; keeps the orders."""

    steps: Sequence[Step] = ()
    counted: int | None = None
    orders: list[Order] = field(default_factory=list)
    answers: list[FakeAnswer] = field(default_factory=list)
    counts: list[tuple[Action, BindingRef | None]] = field(default_factory=list)

    def dispatch(
        self,
        action: Action,
        record: EligibilityRecord,
        plan: Plan,
        grant: Grant | None,
        budget_s: float,
    ) -> FakeAnswer:
        self.orders.append(Order(action, record, plan, grant, budget_s))
        answer = FakeAnswer(self.steps)
        self.answers.append(answer)
        return answer

    async def count_tokens(
        self, action: Action, record: EligibilityRecord | None, binding: BindingRef | None
    ) -> int | None:
        self.counts.append((action, binding))
        return self.counted


class MemoryKeyStore:
    """Keys in a dictionary, with the rules of the real store."""

    def __init__(self) -> None:
        self._keys: dict[str, RouterKey] = {}
        self.spent_micros: dict[str, int] = {}
        self.is_down = False
        self.lookups = 0

    async def start(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    async def default_installation(self) -> InstallationId:
        return INSTALLATION

    async def has_installation(self, installation_id: InstallationId) -> bool:
        return installation_id == INSTALLATION

    async def find(self, digest: str) -> RouterKey | None:
        self.lookups += 1
        if self.is_down:
            raise RouterError(Reason.STORE_UNAVAILABLE, "down")
        return next((key for key in self._keys.values() if key.digest == digest), None)

    async def has_keys(self) -> bool:
        return bool(self._keys)

    async def add(self, key: RouterKey) -> bool:
        if any(stored.digest == key.digest for stored in self._keys.values()):
            return False
        self._keys[key.id] = key
        return True

    async def list_keys(self, installation_id: InstallationId) -> Sequence[RouterKey]:
        return sorted(
            (key for key in self._keys.values() if key.installation_id == installation_id),
            key=lambda key: (key.created_unix_s, key.id),
        )

    async def spent(self, installation_id: InstallationId) -> Mapping[str, int]:
        return self.spent_micros

    async def revoke(self, installation_id: InstallationId, key_id: str, now_unix_s: float) -> bool:
        key = self._live(installation_id, key_id, now_unix_s)
        if key is None:
            return False
        self._keys[key_id] = replace(key, revoked_unix_s=now_unix_s)
        return True

    async def rotate(
        self,
        installation_id: InstallationId,
        key_id: str,
        successor: RouterKey,
        *,
        retire_unix_s: float,
        now_unix_s: float,
    ) -> RouterKey | None:
        key = self._live(installation_id, key_id, now_unix_s)
        if key is None or key.successor_id:
            return None
        self._keys[key_id] = replace(key, revoked_unix_s=retire_unix_s, successor_id=successor.id)
        stored = replace(successor, name=key.name, scope=key.scope)
        self._keys[stored.id] = stored
        return stored

    def _live(
        self, installation_id: InstallationId, key_id: str, now_unix_s: float
    ) -> RouterKey | None:
        key = self._keys.get(key_id)
        if key is None or key.installation_id != installation_id:
            return None
        is_over = key.revoked_unix_s is not None and key.revoked_unix_s <= now_unix_s
        return None if is_over else key
