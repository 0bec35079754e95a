"""Runs walks of dispatch against fake providers, without a channel in between."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

import orjson

from services.dispatch.adapters.http import HttpUpstream
from services.dispatch.model.enums import AttemptCause, AttemptKind
from services.dispatch.model.limits import WatchLimits
from services.dispatch.model.outcome import Head, Missed, Part, Started, Tail, Unserved
from services.dispatch.model.plan import (
    ActionRef,
    BindingRef,
    Budget,
    Eligibility,
    Order,
    Plan,
    PlannedBinding,
    Rescue,
)
from services.dispatch.ports import Endpoint
from services.dispatch.server.circuits import Circuits
from services.dispatch.server.memos import Memos
from services.dispatch.server.target import Stage
from services.dispatch.server.walk import Walk
from services.domain.catalog import Catalog, build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Address
from services.runtime.clock import Clock, SystemClock
from tests.fakes.credentials import FakeCredentials
from tests.fakes.upstream import FakeUpstream

MODEL = "acme-large"
_VERSIONED = (WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES)
"""Dialects whose base address holds the version."""
ANTHROPIC, CHAT = WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT

QUICK = Budget(backoff_base_s=0.01, throttle_backoff_s=(0.01, 0.03))
SHORT = WatchLimits(idle_s=0.3, first_output_s=0.5, stall_s=0.6, hold_s=0.2, linger_s=0.2)


def catalog(
    *providers: str,
    is_reasoning: bool = False,
    is_fast_sold: bool = False,
    is_in_codex_plan: bool = True,
) -> Catalog:
    rows = [
        {
            "provider": name,
            "upstream_id": f"{name}-model",
            "input_usd_per_mtok": 1.0,
            "output_usd_per_mtok": 2.0,
            "codex_plan": is_in_codex_plan,
            **(
                {"fast_input_usd_per_mtok": 6.0, "fast_output_usd_per_mtok": 12.0}
                if is_fast_sold
                else {}
            ),
        }
        for name in providers
    ]
    models: list[dict[str, object]] = [
        {
            "id": MODEL,
            "context_window": 200000,
            "bindings": rows,
            **({"reasoning": "always"} if is_reasoning else {}),
        },
        *(
            {"id": other(row["provider"]), "context_window": 400000, "bindings": [row]}
            for row in rows
        ),
    ]
    return build_catalog([{"models": models}])


def other(provider: object) -> str:
    """Return the id of the model that one provider serves besides."""
    return f"other-{provider}"


def rescue(
    cause: AttemptCause, *providers: str, model: str = "", window: int = 400_000, **facts: object
) -> Rescue:
    """Return a rescue target: the other model of its provider, unless a model is named."""
    bindings = tuple(
        PlannedBinding(BindingRef(model or other(name), name), context_window_tokens=window)
        for name in providers
    )
    return replace(Rescue(cause, bindings), **facts)  # type: ignore[arg-type]  # facts by name


def rescued_by(*rescues: Rescue) -> Callable[[Plan], Plan]:
    """Return what gives a plan these rescue targets."""
    return lambda plan: replace(plan, rescues=rescues)


def body(family: WireFamily, *, is_stream: bool = True) -> bytes:
    if family is WireFamily.GEMINI:
        return orjson.dumps({"contents": [{"role": "user", "parts": [{"text": "hello"}]}]})
    value: dict[str, object] = {"model": MODEL, "stream": is_stream}
    if family is WireFamily.OPENAI_RESPONSES:
        return orjson.dumps({**value, "input": "hello"})
    value["messages"] = [{"role": "user", "content": "hello"}]
    if family is ANTHROPIC:
        value["max_tokens"] = 64
    return orjson.dumps(value)


@dataclass(slots=True)
class Answer:
    """The parts of one walk, sorted."""

    parts: list[Part] = field(default_factory=list)

    @property
    def started(self) -> list[Started]:
        return [part for part in self.parts if isinstance(part, Started)]

    @property
    def missed(self) -> list[Missed]:
        return [part for part in self.parts if isinstance(part, Missed)]

    @property
    def chunks(self) -> bytes:
        return b"".join(part for part in self.parts if isinstance(part, bytes))

    @property
    def head(self) -> Head:
        return next(part for part in self.parts if isinstance(part, Head))

    @property
    def tail(self) -> Tail:
        last = self.parts[-1]
        assert isinstance(last, Tail), last
        return last

    @property
    def unserved(self) -> Unserved:
        last = self.parts[-1]
        assert isinstance(last, Unserved), last
        return last


@dataclass(slots=True)
class Stand:
    """Providers, credentials and settings of one test."""

    upstream: HttpUpstream
    providers: dict[str, tuple[FakeUpstream, WireFamily]]
    credentials: FakeCredentials = field(default_factory=FakeCredentials)
    clock: Clock = field(default_factory=SystemClock)
    limits: WatchLimits = SHORT
    header_timeout_s: float = 0.4
    budget: Budget = QUICK
    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    is_reasoning: bool = False
    """Whether the model of all providers is one that reasons."""
    is_fast_sold: bool = False
    """Whether every binding has a fast tier."""
    is_in_codex_plan: bool = True
    """Whether Codex plans cover every binding."""
    memos: Memos | None = None
    circuits: Circuits | None = None
    """Kept over the walks of one stand; made with its clock by the first of them."""

    def stage(self) -> Stage:
        endpoints = {
            name: Endpoint(
                name,
                family,
                fake.base_url + ("/v1" if family in _VERSIONED else ""),
                is_vendor=False,
                header_timeout_s=self.header_timeout_s,
            )
            for name, (fake, family) in self.providers.items()
        }
        self.memos = self.memos or Memos(self.clock)
        self.circuits = self.circuits or Circuits(self.clock)
        return Stage(
            catalog=catalog(
                *self.providers,
                is_reasoning=self.is_reasoning,
                is_fast_sold=self.is_fast_sold,
                is_in_codex_plan=self.is_in_codex_plan,
            ),
            endpoints=endpoints | self.endpoints,
            credentials=self.credentials,
            upstream=self.upstream,
            clock=self.clock,
            codec_of=codec_for,
            limits=dict.fromkeys(WireFamily, self.limits),
            memos=self.memos,
            circuits=self.circuits,
        )

    def order(
        self,
        *providers: str,
        family: WireFamily = ANTHROPIC,
        is_stream: bool = True,
        change: Callable[[Plan], Plan] = lambda plan: plan,
    ) -> Order:
        names = providers or tuple(self.providers)
        bindings = tuple(
            PlannedBinding(BindingRef(MODEL, name, binding_index=i)) for i, name in enumerate(names)
        )
        plan = Plan(bindings=bindings, start_index=0, planned_provider=names[0], budget=self.budget)
        return Order(
            action=ActionRef("action-1", "inst-1"),
            family=family,
            body=body(family, is_stream=is_stream),
            eligibility=Eligibility("inst-1"),
            plan=change(plan),
            kind=AttemptKind.SERVE,
            estimated_input_tokens=7,
            address=Address(MODEL, is_stream) if family is WireFamily.GEMINI else None,
        )

    def walk(self, order: Order) -> Walk:
        return Walk(self.stage(), order, jitter=lambda: 0.0, time_left_s=lambda: 600.0)

    async def run(self, order: Order) -> Answer:
        answer = Answer()
        async with contextlib.aclosing(self.walk(order).parts()) as parts:
            async for part in parts:
                answer.parts.append(part)
        return answer


def throttled(plan: Plan) -> Plan:
    """Return the plan with short waits for a Retry-After allowed."""
    return replace(plan, is_throttle_wait_enabled=True)


@contextlib.asynccontextmanager
async def standing(*families: WireFamily) -> AsyncIterator[Stand]:
    """Give a stand with one fake provider per family, named p1, p2, … in order."""
    async with contextlib.AsyncExitStack() as stack:
        providers = {
            f"p{i}": (await stack.enter_async_context(FakeUpstream()), family)
            for i, family in enumerate(families, 1)
        }
        upstream = HttpUpstream()
        stack.push_async_callback(upstream.aclose)
        yield Stand(upstream, providers)
