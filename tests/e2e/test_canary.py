"""Secrets and prompts show up nowhere: not in logs, answers, metrics, stores or files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import asyncpg
import httpx
import orjson
import pytest
import pytest_asyncio

from services.domain.vocab import WireFamily
from tests.e2e.conversations import DIALECTS, PATHS, Body, body
from tests.e2e.deployments import Deployment
from tests.e2e.settings import CHAT, MESSAGES, TWIN, Wishes
from tests.e2e.streams import JSON
from tests.fakes.tokens import TokenIssuer
from tests.fakes.upstream import FakeUpstream, Fault, Match

pytestmark = pytest.mark.asyncio(loop_scope="module")

MARK = "CANARY"
"""Part of every secret and of every prompt, so that one search finds them all."""
MARK_HEX = MARK.encode().hex()
"""How a column of bytes would show it."""
SECRETS: Mapping[str, str] = {
    "E2E_PROVIDER": f"{MARK}provider0123456789",
    "E2E_POOL": f"{MARK}pool0123456789",
    "E2E_ENCRYPTION": "ca" * 32,
    "E2E_ACCESS": f"{MARK}access-1",
    "E2E_REFRESH": f"{MARK}R1",
    "POINTSMAN_ADMIN_TOKEN": f"{MARK}admin0123456789",
    "POINTSMAN_BOOTSTRAP_KEY": f"rk_{MARK}router0123456789",
}
PLAN = "plan-of-an-account"
"""A model that the account serves before the key."""
PRESENTED = f"sk-ant-api03-{MARK}presented0123456789"
ADDED = f"{MARK}added0123456789"
"""Has no shape by which a log could know it for a secret."""
LABEL = f"{MARK}label"
ENCRYPTION = SECRETS["E2E_ENCRYPTION"]
PROMPT = f"{MARK} prompt of {MARK.lower()}@example.com"

WISHES = Wishes(
    environment=SECRETS,
    anthropic_key="${E2E_PROVIDER}",
    openai_key="",
    encryption_key="${E2E_ENCRYPTION}",
    log_level="debug",
    models=f"""
[[models]]
id = "{PLAN}"
tier = "mid"
context_window = 200000
[[models.bindings]]
provider = "anthropic"
upstream_id = "{PLAN}"
input_usd_per_mtok = 1.0
output_usd_per_mtok = 2.0
""",
    tables=f"""
[[credentials]]
provider = "openai"
label = "{LABEL}"
secret = "${{E2E_POOL}}"

[[credentials]]
provider = "anthropic"
label = "{LABEL}"
kind = "claude_oauth"
secret = "${{E2E_ACCESS}}"
refresh_token = "${{E2E_REFRESH}}"
expires_at = 1
models = ["{PLAN}"]
priority = 9
""",
    dispatch="""
response_header_timeout_seconds = 0.5
openai_response_header_timeout_seconds = 0.5
sse_idle_timeout_seconds = 0.5
backoff_base_ms = 10
same_binding_retries = 1
""",
)

ECHO = f"wrong key: sk-ant-api03-{MARK}echo0123456789 or sk-proj-{MARK}echo0123456789"
"""Providers repeat the keys that they refuse; keys are told by their shape, before output only."""
FAULTS: Mapping[str, Fault] = {
    "none": Fault(),
    "thinking": Fault(thinking="hm"),
    "bad-request": Fault(status=400),
    "unknown": Fault(status=404),
    "broken": Fault(status=500, body="<html>no JSON</html>", content_type="text/html"),
    "no-headers": Fault(delay=5),
    "dropped": Fault(drop=True),
    "no-json": Fault(bad_json=True),
    "empty": Fault(empty=True),
    "error-first": Fault(error_first=True, message=ECHO),
    "error-later": Fault(error_after=4),
    "cut": Fault(cut_after=4),
    "silent": Fault(stall_after=4, stall=5),
    "limited": Fault(status=429, retry_after=30, message=ECHO),
    "refused-key": Fault(status=401, message=ECHO),
}
MATCHES: Mapping[str, Match] = {
    "limited": Match(key=SECRETS["E2E_POOL"]),
    "refused-key": Match(key=SECRETS["E2E_PROVIDER"]),
}
"""The faults that put a credential to rest come last and meet one each."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def issuer() -> AsyncIterator[TokenIssuer]:
    """Give the token endpoint of the account, which each deployment may ask with the same token."""
    async with TokenIssuer(live={SECRETS["E2E_REFRESH"]}, mark=MARK, is_forgiving=True) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def wishes(issuer: TokenIssuer) -> Wishes:
    return replace(WISHES, credentials=f'claude_token_url = "{issuer.url}"\n')


@pytest_asyncio.fixture(loop_scope="module")
async def told(
    deployment: Deployment, provider: FakeUpstream, issuer: TokenIssuer
) -> AsyncIterator[list[str]]:
    """Give all that clients were told while everything that may happen happened."""
    provider.clear()
    shown = [text async for text in _drive(deployment, provider)]
    shown += [text async for text in _renew(deployment, provider, issuer)]
    keys = {request.key for request in provider.requests}
    assert keys >= {SECRETS["E2E_PROVIDER"], SECRETS["E2E_POOL"], PRESENTED}
    renewed = {key for key in keys if key.startswith(f"{MARK}access-")}
    assert len(renewed) >= 2
    assert SECRETS["E2E_ACCESS"] not in renewed  # it had ended
    assert any(MARK in request.body.decode() for request in provider.requests)
    yield shown


@pytest.mark.spec("CRD-18", "CRD-152", "OPS-15")
async def test_nothing_tells_a_secret_or_a_prompt(
    deployment: Deployment, told: list[str], module_database: str
) -> None:
    assert len(told) > len(FAULTS) * 4
    assert [text for text in told if _is_told(text)] == []
    assert [line.text for line in deployment.lines if _is_told(line.text)] == []
    assert any(line.has(event="rpc", level="debug") for line in deployment.lines)
    assert any(line.has(event="action", outcome="broken") for line in deployment.lines)
    for metrics in await _metrics(deployment):
        assert not _is_told(metrics)
    files = [path for path in deployment.home.rglob("*") if path.is_file()]
    assert [str(path) for path in files if _is_kept_in(path)] == []
    if len(deployment.parts) > 1:
        rows = await _rows(module_database)
        assert rows
        assert [row for row in rows if _is_told(row.replace(LABEL, ""))] == []


async def _drive(deployment: Deployment, provider: FakeUpstream) -> AsyncIterator[str]:
    key = SECRETS["POINTSMAN_BOOTSTRAP_KEY"]
    async with deployment.client(**{"x-router-key": key}) as client:
        for name, fault in FAULTS.items():
            provider.rules.clear()
            rule = provider.script(fault, times=None, match=MATCHES.get(name))
            answers = [
                client.post(PATHS[dialect], content=asked, headers=JSON)
                for dialect, asked in _bodies()
            ]
            for answer in await asyncio.gather(*answers):
                yield _all_of(answer)
            assert rule.hits > 0, name
        provider.rules.clear()
        for headers in ({"x-api-key": PRESENTED}, {"authorization": f"Bearer {PRESENTED}"}):
            for status in (200, 401, 403, 429):
                provider.rules.clear()
                provider.script(
                    Fault(status=status, message=ECHO), times=None, match=Match(key=PRESENTED)
                )
                asked = orjson.dumps(_spoken(WireFamily.ANTHROPIC, MESSAGES, streamed=False))
                yield _all_of(
                    await client.post("/v1/messages", content=asked, headers={**JSON, **headers})
                )
        provider.rules.clear()
        for dialect in DIALECTS:
            cut = orjson.dumps({"model": MESSAGES, "system": PROMPT})[:-1]
            yield _all_of(await client.post(PATHS[dialect], content=cut, headers=JSON))
            wrong = {"x-router-key": "", "x-api-key": f"rk_{MARK}wrong0123456789"}
            yield _all_of(await client.post(PATHS[dialect], content=b"{}", headers=wrong))
        async for text in _order(client):
            yield text
        yield _all_of(await client.get("/v1/models"))
        yield _all_of(await client.get("/nowhere"))
    await asyncio.sleep(0.2)  # reports are handed on and written


async def _order(client: httpx.AsyncClient) -> AsyncIterator[str]:
    """Give operators' orders with secrets, good ones and bad."""
    root = "/admin/v1/credentials"
    good = {"provider": "openai", "enabled": False, "secret": ADDED, "headers": {"x-a": ADDED}}
    bad = ({"provider": "nobody"}, {"weight": ADDED}, {"secrett": ADDED}, {"proxy": [ADDED]})
    for token in (SECRETS["POINTSMAN_ADMIN_TOKEN"], f"{MARK}wrong"):
        client.headers["authorization"] = f"Bearer {token}"
        told = [await client.post(root, json={**good, **each}) for each in (*bad, {}, {})]
        for answer in told:
            yield _all_of(answer)
        yield _all_of(await client.post(root, content=orjson.dumps(good)[:-1]))
        listed = await client.get(root)
        yield _all_of(listed).replace(LABEL, "")
        if listed.status_code != 200:
            continue
        assert [answer.status_code for answer in told] == [400] * len(bad) + [201, 409]
        name = next(one["id"] for one in listed.json()["credentials"] if not one["enabled"])
        for changed in ({"secret": f"{ADDED}2"}, {"secret": f"{ADDED}2", "kind": "gateway"}):
            yield _all_of(await client.patch(f"{root}/{name}", json=changed))
        yield _all_of(await client.post(f"{root}/reencrypt"))
    del client.headers["authorization"]


async def _renew(
    deployment: Deployment, provider: FakeUpstream, issuer: TokenIssuer
) -> AsyncIterator[str]:
    """Serve from the account, have its token refused and renewed, then refused for good."""
    asked = orjson.dumps(_spoken(WireFamily.ANTHROPIC, PLAN, streamed=False))
    refused = Fault(status=401, message=ECHO)
    provider.rules.clear()
    async with deployment.client(**{"x-router-key": SECRETS["POINTSMAN_BOOTSTRAP_KEY"]}) as client:
        for failure in (
            None,
            (503, {"error": ECHO}),
            (400, {"error": "invalid_grant", "is": ECHO}),
        ):
            issuer.failure = failure
            for fault in (None, refused, None):
                provider.rules.clear()
                if fault is not None:
                    provider.script(fault, match=Match(key=f"{MARK}access-"))
                yield _all_of(await client.post("/v1/messages", content=asked, headers=JSON))
    issuer.failure = None  # the next deployment starts with a token that has ended
    provider.rules.clear()
    await asyncio.sleep(0.2)


def _bodies() -> Iterator[tuple[WireFamily, bytes]]:
    for dialect in DIALECTS:
        for model, streamed in ((MESSAGES, True), (CHAT, False), (CHAT, True), (TWIN, False)):
            yield dialect, orjson.dumps(_spoken(dialect, model, streamed=streamed))


def _spoken(dialect: WireFamily, model: str, *, streamed: bool) -> Body:
    spoken = body(dialect, model, [{"role": "user", "content": PROMPT}], streamed=streamed)
    if dialect is WireFamily.ANTHROPIC:
        spoken["metadata"] = {"user_id": PROMPT}
        spoken["system"] = PROMPT
    else:
        spoken["user"] = PROMPT
    return spoken


def _all_of(answer: httpx.Response) -> str:
    return f"{answer.status_code} {answer.headers.multi_items()} {answer.text}"


def _is_told(text: str) -> bool:
    return MARK.lower() in text.lower() or any(word in text for word in (ENCRYPTION, MARK_HEX))


def _is_kept_in(path: Path) -> bool:
    """Tell whether a file holds a secret or a prompt; a label of a credential is neither."""
    raw = path.read_bytes().replace(LABEL.encode(), b"")
    return any(word.encode() in raw for word in (MARK, MARK.lower(), ENCRYPTION))


async def _metrics(deployment: Deployment) -> Sequence[str]:
    found = []
    async with httpx.AsyncClient(trust_env=False) as client:
        for part in deployment.parts:
            serving = await deployment.process(part).wait_for_event("serving")
            address = f"http://127.0.0.1:{serving.fields['ops_port']}/metrics"
            found.append((await client.get(address)).text)
    return found


async def _rows(url: str) -> Sequence[str]:
    """Return every row of every table of ours, as text."""
    connection = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', table_schema, table_name) AS name FROM"
            " information_schema.tables WHERE table_schema IN ('gateway', 'credentials')"
        )
        return [
            str(row[0])
            for table in tables
            for row in await connection.fetch(f"SELECT t::text FROM {table['name']} t")  # noqa: S608 - names come from the catalog
        ]
    finally:
        await connection.close()
