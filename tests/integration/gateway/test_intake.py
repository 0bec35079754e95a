"""Keys and bodies over real HTTP: who is let in, and what is read."""

from __future__ import annotations

import asyncio
import gzip
import zlib

import orjson
import pytest
import zstandard

from gateway.keys import key_of, new_token
from gateway.model import AttemptStarted, RouterKey, Scope
from services.domain.vocab import WireFamily
from services.runtime.clock import SystemClock
from tests.fakes.ports import INSTALLATION
from tests.integration.gateway.conftest import KEY, Stack, head, tail
from tests.integration.gateway.test_answers import A_BODY, CHAT, MESSAGES

STARTED = AttemptStarted(1, "acme", "claude-large")


@pytest.fixture
def answering(stack: Stack) -> Stack:
    stack.dispatch.steps = [STARTED, head(WireFamily.ANTHROPIC, is_stream=False), A_BODY, tail()]
    return stack


async def _post(stack: Stack, headers: dict[str, str], path: str = "/v1/messages") -> int:
    sent = {"authorization": "", **headers}
    async with stack.session.post(path, json=MESSAGES, headers=sent) as got:
        await got.read()
        return got.status


@pytest.mark.spec("XLT-19", "OPS-17")
@pytest.mark.parametrize(
    "headers",
    [
        {"x-router-key": f" {KEY} "},
        {"authorization": f"bearer  {KEY}"},
        {"x-api-key": KEY},
        {"x-goog-api-key": KEY},
        {"x-router-key": KEY, "authorization": "Bearer sk-of-somebody-else"},
    ],
)
async def test_a_key_is_found_in_every_header(answering: Stack, headers: dict[str, str]) -> None:
    assert await _post(answering, headers) == 200


@pytest.mark.spec("XLT-21", "OPS-18", "XLT-193")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Basic abc"},
        {"authorization": "Bearer sk-not-ours"},
        {"authorization": "Bearer rk_unknown_0123456789abcdef"},
        {"x-router-key": "rk_unknown", "authorization": f"Bearer {KEY}"},
        {"x-api-key": "rk_" + "x" * 5000},
    ],
)
async def test_a_bad_key_is_401_in_the_callers_dialect(
    stack: Stack, headers: dict[str, str]
) -> None:
    sent = {"authorization": "", **headers}
    async with stack.session.post("/v1/messages", json=MESSAGES, headers=sent) as got:
        assert got.status == 401
        assert (await got.json())["error"]["type"] == "authentication_error"
    async with stack.session.post("/v1/chat/completions", json=CHAT, headers=sent) as got:
        assert got.status == 401
        assert (await got.json())["error"]["code"] == "invalid_api_key"


async def _add(stack: Stack, **facts: object) -> tuple[str, RouterKey]:
    scope = facts.pop("scope", Scope.ROUTING)
    assert isinstance(scope, Scope)
    token = new_token(scope)
    now_unix_s = SystemClock().now_unix_s()
    expires = facts.pop("expires_unix_s", None)
    assert expires is None or isinstance(expires, float)
    key = key_of(
        token,
        INSTALLATION,
        name="test",
        now_unix_s=now_unix_s,
        scope=scope,
        expires_unix_s=expires,
    )
    await stack.store.add(key)
    return token, key


@pytest.mark.spec("OPS-16", "OPS-21", "XLT-21")
async def test_another_scope_and_an_expired_key_are_refused(answering: Stack) -> None:
    analytics, _ = await _add(answering, scope=Scope.ANALYTICS_READ)
    expired, _ = await _add(answering, expires_unix_s=1.0)
    live, _ = await _add(answering)
    assert await _post(answering, {"x-router-key": analytics}) == 401
    assert await _post(answering, {"x-router-key": live}) == 200
    sent = {"authorization": "", "x-router-key": expired}
    async with answering.session.post("/v1/messages", json=MESSAGES, headers=sent) as got:
        assert got.status == 401
        assert "expired" in (await got.json())["error"]["message"]


@pytest.mark.spec("OPS-18", "XLT-21", "XLT-202")
async def test_keys_that_cannot_be_looked_up_are_503_and_known_ones_go_on(
    answering: Stack,
) -> None:
    assert await _post(answering, {"x-router-key": KEY}) == 200
    answering.store.is_down = True
    assert await _post(answering, {"x-router-key": KEY}) == 200
    sent = {"authorization": "", "x-router-key": "rk_new_0123456789abcdefgh"}
    async with answering.session.post("/v1/messages", json=MESSAGES, headers=sent) as got:
        assert got.status == 503
        assert got.headers["retry-after"] == "1"
        assert (await got.json())["error"]["type"] == "overloaded_error"
    async with answering.session.post("/v1/chat/completions", json=CHAT, headers=sent) as got:
        assert got.status == 503


BODY = orjson.dumps(MESSAGES)
RAW = zlib.compressobj(wbits=-15)
RAW_DEFLATE = RAW.compress(BODY) + RAW.flush()


@pytest.mark.spec("XLT-25")
@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("", b"\xef\xbb\xbf" + BODY),
        ("identity", BODY),
        ("gzip", gzip.compress(BODY, mtime=0)),
        ("gzip", gzip.compress(BODY[:9], mtime=0) + gzip.compress(BODY[9:], mtime=0)),
        ("deflate", zlib.compress(BODY)),
        ("deflate", RAW_DEFLATE),
        ("zstd", zstandard.compress(BODY)),
    ],
)
async def test_every_encoding_gives_the_same_body(
    answering: Stack, encoding: str, data: bytes
) -> None:
    headers = {"content-encoding": encoding, "content-type": "application/json"}
    async with answering.session.post("/v1/messages", data=data, headers=headers) as got:
        assert got.status == 200
    assert answering.dispatch.orders[0].action.body == BODY


@pytest.mark.spec("XLT-25", "XLT-192")
@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("", b""),
        ("", b"[1]"),
        ("", b"null"),
        ("", BODY + b"x"),
        ("", BODY[:-1]),
        ("", b'{"model":"m","max_tokens":1,"messages":[],"messages":[]}'),
        ("", b'{"model":"m\xff","max_tokens":1,"messages":[]}'),
        ("gzip", b"not gzip"),
        ("gzip", gzip.compress(BODY, mtime=0)[:-9]),
        ("gzip", gzip.compress(BODY, mtime=0) + b"more"),
        ("gzip", gzip.compress(BODY, mtime=0) + gzip.compress(b"  ", mtime=0)[:-9]),
        ("deflate", zlib.compress(BODY) + zlib.compress(b" ")),
        ("zstd", b"not zstd at all"),
        ("br", BODY),
        ("gzip, gzip", BODY),
    ],
)
async def test_an_unreadable_body_is_400_in_the_callers_dialect(
    stack: Stack, encoding: str, data: bytes
) -> None:
    headers = {"content-encoding": encoding} if encoding else {}
    async with stack.session.post("/v1/messages", data=data, headers=headers) as got:
        assert got.status == 400
        assert (await got.json())["error"]["type"] == "invalid_request_error"
    assert not stack.dispatch.orders


@pytest.mark.spec("XLT-25", "DSP-166", "XLT-197")
@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("gzip", gzip.compress),
        ("gzip", lambda body: gzip.compress(body[:4096]) * (len(body) // 4096)),
        ("deflate", zlib.compress),
        ("zstd", zstandard.compress),
    ],
)
async def test_the_limit_holds_for_the_decoded_size(
    stack: Stack, encoding: str, pack: object
) -> None:
    assert callable(pack)
    bomb = pack(b" " * 5_000_000)
    headers = {"content-encoding": encoding}
    async with stack.session.post("/v1/messages", data=bomb, headers=headers) as got:
        assert got.status == 413
        assert (await got.json())["error"]["type"] == "request_too_large"


async def test_a_body_that_declares_too_much_is_refused_before_it_is_sent(stack: Stack) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", stack.gateway.port)
    writer.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
        + KEY.encode()
        + b"\r\ncontent-length: 99999999\r\nexpect: 100-continue\r\n\r\n"
    )
    async with asyncio.timeout(2):
        status = await reader.readline()
    assert b" 413 " in status
    writer.close()


async def test_an_expected_continue_is_given_once_the_key_is_good(answering: Stack) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", answering.gateway.port)
    writer.write(
        b"POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer "
        + KEY.encode()
        + b"\r\ncontent-length: "
        + str(len(BODY)).encode()
        + b"\r\nexpect: 100-continue\r\n\r\n"
    )
    async with asyncio.timeout(2):
        assert b" 100 " in await reader.readline()
        assert await reader.readline() == b"\r\n"
        writer.write(BODY)
        assert b" 200 " in await reader.readline()
    writer.close()


async def test_a_chunked_body_over_the_limit_is_413(stack: Stack) -> None:
    async def endless() -> object:
        for _ in range(40):
            yield b" " * 8192

    async with stack.session.post("/v1/messages", data=endless()) as got:
        assert got.status == 413


async def test_what_a_client_says_of_itself_reaches_the_action(answering: Stack) -> None:
    headers = {
        "x-claude-code-session-id": "s-1",
        "user-agent": "claude-cli/2.1 (external)",
        "anthropic-beta": "context-1m-2025-08-07",
        "anthropic-version": "2026-10-21",
        "x-request-id": "mine",
        "cookie": "a=b",
        "x-forwarded-for": "1.2.3.4",
    }
    assert await _post(answering, {"x-router-key": KEY, **headers}) == 200
    caller = answering.dispatch.orders[0].action.caller
    assert caller.client_app == "claude-code"
    assert len(caller.session_key) == 16
    assert caller.client_request_id == "mine"
    assert caller.wants_long_context
    assert dict(caller.relayed_headers) == {
        "anthropic-version": "2026-10-21",
        "anthropic-beta": "context-1m-2025-08-07",
        "user-agent": "claude-cli/2.1 (external)",
    }
