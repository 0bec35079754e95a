"""Token endpoints of vendors over HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from services.credentials.model import TokenReply

if TYPE_CHECKING:
    import aiohttp

    from services.credentials.model import TokenRequest

TIMEOUT_S = 10.0
"""Half of it is for the way there: who takes longer has not heard the question."""
MAX_BODY_BYTES = 65_536
MAX_HEADER_BYTES = 65_536
"""Of one header: an answer that is not read loses a token that is spent."""


class HttpTokenEndpoint:
    """Asks once, without retries and redirects; the client is made for the first question."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._client: aiohttp.ClientSession | None = None

    async def ask(self, request: TokenRequest) -> TokenReply:
        """Return what was said; a vendor that is down or late says nothing."""
        import aiohttp  # who has no account needs no client

        try:
            async with asyncio.timeout(self._timeout_s):
                session = self._session()
                async with session.post(
                    request.url,
                    data=dict(request.fields) if request.is_form else None,
                    json=None if request.is_form else dict(request.fields),
                    proxy=request.proxy_url or None,
                    allow_redirects=False,
                    headers={"accept": "application/json"},
                ) as answer:
                    body = await answer.content.read(MAX_BODY_BYTES)
                    while not answer.content.at_eof() and len(body) < MAX_BODY_BYTES:
                        body += await answer.content.read(MAX_BODY_BYTES - len(body))
                    wait = answer.headers.get("retry-after", "")
                    return TokenReply(answer.status, body, retry_after=wait)
        except (
            aiohttp.ClientConnectorError,
            aiohttp.ClientHttpProxyError,
            aiohttp.ConnectionTimeoutError,
            ValueError,
        ):
            return TokenReply(None)
        except (aiohttp.ClientError, OSError, TimeoutError):
            return TokenReply(None, is_lost=True)

    async def aclose(self) -> None:
        """Close all connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _session(self) -> aiohttp.ClientSession:
        import aiohttp

        if self._client is None:
            self._client = aiohttp.ClientSession(
                trust_env=False,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=self._timeout_s / 2),
                max_line_size=MAX_HEADER_BYTES,
                max_field_size=MAX_HEADER_BYTES,
            )
        return self._client
