"""What cannot be served is refused in the caller's dialect, with a way out, and goes nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx
import orjson
import pytest
from anthropic import AsyncAnthropic, AuthenticationError
from openai import AsyncOpenAI
from openai import NotFoundError as UnknownModelError

from services.domain.vocab import WireFamily
from tests.e2e.conversations import DIALECTS, PATHS, body
from tests.e2e.deployments import Deployment
from tests.e2e.settings import MESSAGES, ROUTER_KEY, UNKEYED, Wishes
from tests.e2e.streams import JSON
from tests.fakes.upstream import FakeUpstream

pytestmark = pytest.mark.asyncio(loop_scope="module")

LIMIT_BYTES = 4000
WISHES = Wishes(gateway=f"max_body_bytes = {LIMIT_BYTES}")


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is refused, and what its caller is told."""

    status: int
    kind: str
    """Error type on Messages."""
    says: str
    """Part of the message in every dialect."""
    model: str = MESSAGES
    content: bytes | None = None
    """Absent: a good body that names `model`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    openai_kind: str = "invalid_request_error"
    code: str = ""
    """Error code on Chat Completions."""


INVALID = "invalid_request_error"
REFUSALS = {
    "cut-json": Refusal(400, INVALID, "not JSON", content=b'{"model": "x", "messages": ['),
    "no-text": Refusal(400, INVALID, "not UTF-8", content=b"\xff\xfe\x00"),
    "empty": Refusal(400, INVALID, "JSON object", content=b""),
    "no-object": Refusal(400, INVALID, "JSON object", content=b"[1, 2]"),
    "no-model": Refusal(400, INVALID, "model: ", content=b'{"messages": [], "max_tokens": 1}'),
    "two-messages": Refusal(
        400, INVALID, "twice", content=b'{"model": "x", "messages": [], "messages": []}'
    ),
    "oversized": Refusal(
        413,
        "request_too_large",
        f"larger than {LIMIT_BYTES} bytes",
        content=b'{"x": "' + b"y" * LIMIT_BYTES + b'"}',
        code="request_too_large",
    ),
    "unknown-model": Refusal(
        404,
        "not_found_error",
        f"did you mean {MESSAGES}",
        model="plain-mesages",
        code="model_not_found",
    ),
    "unprintable-model": Refusal(400, INVALID, "printable", model="plain\x00messages"),
    "no-provider-key": Refusal(
        400,
        INVALID,
        "set api_key under [providers.fireworks]",
        model=UNKEYED,
        code="NO_ELIGIBLE_PROVIDER",
    ),
    "wrong-router-key": Refusal(
        401,
        "authentication_error",
        "pointsman keys create",
        headers={"x-router-key": "rk_wrongwrongwrongwrong"},
        code="invalid_api_key",
    ),
    "no-router-key": Refusal(
        401,
        "authentication_error",
        "pointsman keys create",
        headers={"x-router-key": ""},
        code="invalid_api_key",
    ),
    "unknown-forced-model": Refusal(
        400, INVALID, "nonesuch", headers={"x-router-force-model": "nonesuch"}
    ),
}


@pytest.mark.spec("XLT-21", "XLT-25", "DSP-160", "DSP-166", "POL-35", "POL-40")
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.value)
@pytest.mark.parametrize(
    ("refusal", "streamed"),
    [
        pytest.param(refusal, streamed, id=f"{name}-{'streamed' if streamed else 'whole'}")
        for name, refusal in REFUSALS.items()
        for streamed in (False, True)
        if refusal.content is None or not streamed
    ],
)
async def test_a_refusal_is_clear_and_reaches_nobody(
    embedded: Deployment,
    provider: FakeUpstream,
    dialect: WireFamily,
    refusal: Refusal,
    *,
    streamed: bool,
) -> None:
    provider.clear()
    content = refusal.content
    if content is None:
        content = orjson.dumps(body(dialect, refusal.model, streamed=streamed))
    async with embedded.client() as client:
        answer = await client.post(
            PATHS[dialect], content=content, headers={**JSON, **refusal.headers}
        )
    assert answer.status_code == refusal.status, answer.text
    assert answer.headers["content-type"] == "application/json"
    assert "retry-after" not in answer.headers
    error = _error(answer, dialect)
    assert refusal.says in str(error["message"])
    if dialect is WireFamily.ANTHROPIC:
        assert error["type"] == refusal.kind
    else:
        assert error["type"] == refusal.openai_kind
        assert refusal.code in ("", error["code"])
    assert provider.seen == 0


@pytest.mark.spec("XLT-22")
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.value)
@pytest.mark.parametrize("name", ["user-agent", "anthropic-beta", "x-app", "x-request-id"])
async def test_bytes_of_a_header_that_are_no_text_are_no_fault(
    embedded: Deployment, provider: FakeUpstream, dialect: WireFamily, name: str
) -> None:
    provider.clear()
    content = orjson.dumps(body(dialect, MESSAGES, streamed=False))
    async with embedded.client() as client:
        headers = [(b"content-type", b"application/json"), (name.encode(), b"caf\xe9")]
        answer = await client.post(PATHS[dialect], content=content, headers=headers)
    assert answer.status_code == 200, answer.text
    assert provider.seen == 1


async def test_the_sdks_raise_their_own_errors(embedded: Deployment) -> None:
    async with AsyncAnthropic(
        base_url=embedded.url, api_key="rk_wrongwrongwrongwrong", max_retries=0
    ) as client:
        with pytest.raises(AuthenticationError, match="pointsman keys create"):
            await client.messages.create(
                model=MESSAGES, max_tokens=16, messages=[{"role": "user", "content": "Hello"}]
            )
    async with AsyncOpenAI(
        base_url=f"{embedded.url}/v1", api_key=ROUTER_KEY, max_retries=0
    ) as asking:
        with pytest.raises(UnknownModelError, match="not in the catalog"):
            await asking.chat.completions.create(
                model="nonesuch", messages=[{"role": "user", "content": "Hello"}]
            )


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.value)
async def test_wrong_paths_and_methods_are_refused_in_the_dialect(
    embedded: Deployment, dialect: WireFamily
) -> None:
    async with embedded.client() as client:
        method = await client.get(PATHS[dialect])
        assert (method.status_code, method.headers["allow"]) == (405, "POST")
        assert _error(method, dialect)["message"]
        path = await client.post(f"{PATHS[dialect]}/nowhere")
        assert path.status_code == 404
        assert _error(path, dialect)["message"]


def _error(answer: httpx.Response, dialect: WireFamily) -> Mapping[str, object]:
    """Return the error of an envelope that is whole in its dialect."""
    envelope = answer.json()
    error = envelope["error"]
    assert isinstance(error, dict)
    if dialect is WireFamily.ANTHROPIC:
        assert envelope["type"] == "error"
        assert envelope["request_id"] == answer.headers["request-id"]
        assert set(error) == {"type", "message"}
    else:
        assert set(envelope) == {"error"}
        assert set(error) == {"message", "type", "param", "code"}
    return error
