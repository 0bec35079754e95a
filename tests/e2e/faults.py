"""Providers that fail as they are told: who is asked, and how each dialect is asked and read."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
import orjson

from gateway.adapters.ledger import SqlLedgerStore
from gateway.ledger.settlement import recomputed
from gateway.model.record import LedgerRow
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import BlockDelta, End, Failure, Text
from tests.e2e import deployments
from tests.e2e.settings import Wishes
from tests.fakes.upstream import FakeUpstream, Fault, Match, RecordedRequest

FAMILIES = tuple(WireFamily)
WORDS = "alpha beta gamma delta "
"""What a healthy provider says."""

DISPATCH = """
response_header_timeout_seconds = 0.5
first_output_timeout_seconds = 1.0
sse_idle_timeout_seconds = 0.6
responses_sse_idle_timeout_seconds = 0.6
output_stall_timeout_seconds = 2.0
bookkeeping_hold_seconds = 0.3
backoff_base_ms = 40
"""
_BASES = {WireFamily.OPENAI_CHAT: "/v1", WireFamily.OPENAI_RESPONSES: "/v1"}


@dataclass(slots=True)
class Stand:
    """A deployment between clients and two providers, of which the first fails."""

    client: httpx.AsyncClient
    failing: FakeUpstream
    backup: FakeUpstream
    home: Path
    answers: list[httpx.Response] = field(default_factory=list)
    """Everything that was answered since the last :meth:`clear`."""

    def clear(self) -> None:
        """Let both providers be healthy, and forget what was asked and answered."""
        self.failing.clear()
        self.backup.clear()
        self.answers.clear()

    async def ask(
        self, family: WireFamily, model: str, *, is_stream: bool, **brought: str
    ) -> httpx.Response:
        """Return the answer to one request, whole; ``brought`` are headers of the client's own."""
        path, body = asked(family, model, is_stream=is_stream)
        headers = {name.replace("_", "-"): value for name, value in brought.items()}
        headers["content-type"] = "application/json"
        answer = await self.client.post(path, content=body, headers=headers)
        self.answers.append(answer)
        return answer

    def script(
        self, name: str, fault: Fault, times: int | None, families: Sequence[WireFamily] = FAMILIES
    ) -> None:
        """Let a provider fail for a scenario, in each dialect for itself."""
        fake = self.backup if name == "backup" else self.failing
        for family in families:
            fake.script(fault, times=times, match=_match(name, family))

    def sends(self, name: str, family: WireFamily) -> list[RecordedRequest]:
        """Return what a provider was asked for a scenario in a dialect."""
        fake, accepts = (self.backup if name == "backup" else self.failing), _match(name, family)
        return [request for request in fake.requests if accepts.accepts(request)]

    @property
    def attempts(self) -> list[RecordedRequest]:
        """What either provider was asked, less what the same attempt asked anew and plainer."""
        sends = (*self.failing.requests, *self.backup.requests)
        return [each for each in sends if each.status == 200 or each.json.get("speed") != "fast"]

    async def seen_off(self) -> None:
        """Return when no request is open at any provider any more."""
        for fake in (self.failing, self.backup):
            await _idle(fake)


async def _idle(fake: FakeUpstream) -> None:
    await fake.wait_until(lambda: all(request.ending for request in fake.requests))


@contextlib.asynccontextmanager
async def standing(
    home: Path, scenarios: Sequence[str] = (), wishes: Wishes | None = None
) -> AsyncIterator[Stand]:
    """Run the product in one process, with models of every dialect for each scenario.

    ``wishes`` may add models, settings of routing and more settings of dispatch.
    """
    wishes = wishes or Wishes()
    async with FakeUpstream() as failing, FakeUpstream() as backup:
        wishes = replace(
            wishes,
            dispatch=DISPATCH + wishes.dispatch,
            models="".join(_models(name) for name in scenarios) + _spare() + wishes.models,
            tables="".join(_providers(name, failing.base_url) for name in scenarios)
            + _providers("backup", backup.base_url),
        )
        async with deployments.embedded(home, failing, wishes) as running, running.client() as http:
            yield Stand(http, failing, backup, home)


async def in_each(
    stand: Stand, ask: Callable[[WireFamily], Awaitable[None]], *, is_stream: bool
) -> None:
    """Ask in every dialect at once; afterwards all must be healthy and nothing left open."""
    async with asyncio.TaskGroup() as group:
        for family in FAMILIES:
            group.create_task(_awaited(ask(family)))
    stand.failing.rules.clear()
    stand.backup.rules.clear()
    for family in FAMILIES:
        answer = await stand.ask(family, f"spare-{family.value}", is_stream=is_stream)
        assert read(family, answer, is_stream=is_stream).text == WORDS
    await stand.seen_off()


async def _awaited(work: Awaitable[None]) -> None:
    await work


async def audit(stand: Stand) -> None:
    """Compare the ledger with what was served since the stand was cleared: no more and no less."""
    attempts = stand.attempts
    actions = {answer.headers["x-router-action-id"]: answer for answer in stand.answers}
    rows = await rows_of(stand, set(actions), len(attempts))
    assert Counter(row.provider for row in rows.values()) == Counter(map(provider_of, attempts))
    assert all(recomputed(row) == (row.cost_micros, row.charged_micros) for row in rows.values())
    for action_id, answer in actions.items():
        own = [row for row in rows.values() if row.action_id == action_id]
        told = [row for row in own if row.outcome in ("served", "broken")]
        unpaid = [row for row in own if row not in told]
        assert not any(row.charged_micros for row in unpaid)
        if answer.status_code != 200:
            assert not told
            continue
        (row,) = told
        assert row.provider == answer.headers["x-router-provider"]
        assert row.model == answer.headers["x-router-model"]
        assert row.is_charged
        if row.outcome == "served":
            assert (row.source, row.fresh_input_tokens, row.output_tokens) == ("reported", 11, 4)


async def rows_of(
    stand: Stand, action_ids: set[str], count: int
) -> dict[tuple[str, int], LedgerRow]:
    """Return the rows of actions, by action and attempt, once there are so many."""
    store = SqlLedgerStore(f"sqlite:///{stand.home}/gateway.db")
    found: dict[tuple[str, int], LedgerRow] = {}
    try:
        async with asyncio.timeout(15):
            cursor = 0
            while len(found) < count:
                page = await store.page(cursor, 1000)
                found |= {
                    (row.action_id, row.attempt): row
                    for _, row in page
                    if row.action_id in action_ids
                }
                cursor = page[-1][0] if page else cursor
                await asyncio.sleep(0.05)
    finally:
        await store.aclose()
    return found


def provider_of(request: RecordedRequest) -> str:
    """Return the provider that a request was sent to; its models may have names behind an @."""
    return request.model.removeprefix("at-").partition("@")[0]


def provider(name: str, family: WireFamily) -> str:
    """Return the provider of a scenario in a dialect."""
    return f"{name}-{family.value.replace('_', '-')}"


def model(kind: str, name: str, family: WireFamily) -> str:
    """Return the model of a scenario: `duo` has two bindings, `solo` a fallback, `lone` nothing."""
    return f"{kind}-{provider(name, family)}"


def asked(family: WireFamily, model_id: str, *, is_stream: bool) -> tuple[str, bytes]:
    """Return path and body of a small request."""
    said = [{"role": "user", "content": "Hello"}]
    match family:
        case WireFamily.ANTHROPIC:
            body: Mapping[str, object] = {"model": model_id, "max_tokens": 64, "messages": said}
            path = "/v1/messages"
        case WireFamily.OPENAI_CHAT:
            body = {"model": model_id, "messages": said}
            path = "/v1/chat/completions"
        case WireFamily.OPENAI_RESPONSES:
            body = {"model": model_id, "input": "Hello"}
            path = "/v1/responses"
        case WireFamily.GEMINI:
            action = "streamGenerateContent?alt=sse" if is_stream else "generateContent"
            return f"/v1beta/models/{model_id}:{action}", orjson.dumps(
                {"contents": [{"role": "user", "parts": [{"text": "Hello"}]}]}
            )
    return path, orjson.dumps({**body, "stream": is_stream})


@dataclass(frozen=True, slots=True)
class Read:
    """What a client makes of an answer."""

    text: str
    is_ended: bool
    is_failed: bool


def read(family: WireFamily, response: httpx.Response, *, is_stream: bool) -> Read:
    """Return what an answer says in its client's dialect."""
    codec = codec_for(family)
    if not is_stream:
        answer = codec.decode_response(response.content)
        words = "".join(block.text for block in answer.blocks if isinstance(block, Text))
        return Read(words, is_ended=True, is_failed=False)
    decoder = codec.stream_decoder()
    events = [*decoder.feed(response.content), *decoder.finish()]
    return Read(
        "".join(event.text for event in events if isinstance(event, BlockDelta)),
        is_ended=any(isinstance(event, End) for event in events),
        is_failed=any(isinstance(event, Failure) for event in events),
    )


def _match(name: str, family: WireFamily) -> Match:
    """Return what recognises requests to a provider: its name of the model."""
    upstream_id = f"at-{provider(name, family)}"
    if family is WireFamily.GEMINI:
        return Match(path=f"{upstream_id}:")
    return Match(model=f"^{upstream_id}$")


def _providers(name: str, url: str) -> str:
    return "".join(
        f'\n[providers."{provider(name, family)}"]\nfamily = "{family.value}"\n'
        f'base_url = "{url}{_BASES.get(family, "")}"\napi_key = "key-of-{name}"\n'
        for family in FAMILIES
    )


def _models(name: str) -> str:
    text = ""
    for family in FAMILIES:
        own, spare = provider(name, family), provider("backup", family)
        text += _model(model("duo", name, family), (own, spare))
        text += _model(model("solo", name, family), (own,), fallback=f"spare-{family.value}")
        text += _model(model("lone", name, family), (own,))
    return text


def _spare() -> str:
    return "".join(_model(f"spare-{f.value}", (provider("backup", f),), 400_000) for f in FAMILIES)


def _model(name: str, bound: Sequence[str], window: int = 200_000, *, fallback: str = "") -> str:
    rows = "".join(
        f'\n[[models.bindings]]\nprovider = "{at}"\nupstream_id = "at-{at}"\n'
        f"input_usd_per_mtok = {place}.0\noutput_usd_per_mtok = {place}.0\n"
        for place, at in enumerate(bound, 1)
    )
    more = f'fallbacks = ["{fallback}"]\n' if fallback else ""
    return f'\n[[models]]\nid = "{name}"\ntier = "mid"\ncontext_window = {window}\n{more}{rows}'
