"""No client sees an error that another credential of the pool could have avoided."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e import streams
from tests.e2e.conversations import DIALECTS
from tests.e2e.deployments import Deployment
from tests.e2e.settings import MESSAGES, Wishes
from tests.fakes.upstream import FakeUpstream, Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")

FIRST, SECOND, THIRD, LAST = KEYS = ("pool-key-1", "pool-key-2", "pool-key-3", "pool-key-4")


def _entry(number: int, key: str, priority: int) -> str:
    return f"""
[[credentials]]
provider = "anthropic"
label = "n{number}"
secret = "{key}"
priority = {priority}
"""


WISHES = Wishes(
    anthropic_key="",
    tables="".join(_entry(n, key, 9 - n) for n, key in enumerate(KEYS)),
    credentials="session_affinity = false\n",
)

_UNIFIED = "anthropic-ratelimit-unified-"
WARNING = Fault(
    headers={f"{_UNIFIED}status": "allowed_warning", f"{_UNIFIED}7d-status": "allowed_warning"}
)


@pytest_asyncio.fixture(loop_scope="module")
async def fresh(deployment: Deployment, provider: FakeUpstream) -> AsyncIterator[FakeUpstream]:
    provider.clear()
    yield provider
    provider.clear()


async def _ask(deployment: Deployment, dialect: WireFamily) -> httpx.Response:
    answer = await streams.ask(deployment, dialect, MESSAGES)
    await asyncio.sleep(0.2)  # reports are sent within 50 ms
    return answer


def _answer(provider: FakeUpstream, key: str, fault: Fault, times: int | None = None) -> None:
    provider.script(fault, times=times, match=Match(key=f"{key}$"))


@pytest.mark.spec("CRD-86", "CRD-90", "CRD-91", "CRD-93", "CRD-110", "CRD-167")
async def test_a_pool_serves_as_long_as_one_of_it_can(
    deployment: Deployment, fresh: FakeUpstream
) -> None:
    provider = fresh
    dialect = DIALECTS[0]
    _answer(provider, FIRST, WARNING, times=1)
    served = await _ask(deployment, dialect)
    assert served.status_code == 200
    assert [one.key for one in provider.requests] == [FIRST]

    # A warning outranks the priority of the first; clean ones serve in the order of theirs.
    assert (await _ask(deployment, dialect)).status_code == 200
    assert provider.requests[-1].key == SECOND

    # Three that cannot serve are left one by one, within one action, by every dialect.
    provider.clear()
    _answer(provider, SECOND, Fault(status=429, retry_after=600))
    _answer(provider, THIRD, Fault(status=401))
    _answer(provider, LAST, Fault(status=402))
    _answer(provider, FIRST, WARNING)
    for each in (*DIALECTS, *DIALECTS):
        assert (await _ask(deployment, each)).status_code == 200
    keys = [one.key for one in provider.requests]
    assert keys[:4] == [SECOND, THIRD, LAST, FIRST]
    assert set(keys[4:]) == {FIRST}  # warned, and the only one: it serves

    # Only when nobody can does the client hear of it, with the wait.
    provider.clear()
    _answer(provider, FIRST, Fault(status=429, retry_after=300))
    assert (await _ask(deployment, dialect)).status_code == 429
    denied = await _ask(deployment, dialect)
    assert denied.status_code == 429
    assert 1 <= int(denied.headers["retry-after"]) <= 300
    assert [one.key for one in provider.requests] == [FIRST]
    assert not any(key in denied.text for key in KEYS)

    # Operators read in the log which credential it was; callers are told of none.
    marked = [line for line in deployment.lines if line.has(event="credential_mark_set")]
    names = {str(line.fields["fingerprint"]) for line in marked}
    assert len(names) == len(KEYS)
    for answer in (served, denied):
        shown = f"{answer.headers.multi_items()} {answer.text}"
        assert not any(name in shown for name in names)
