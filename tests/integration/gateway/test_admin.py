"""The admin API: who may order, what an order must look like, and what it answers."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import aiohttp
import httpx
import pytest
from aiohttp.test_utils import RawTestServer
from pydantic import SecretStr
from structlog.testing import capture_logs

from gateway.adapters.pool import PoolClient
from gateway.auth import KeyRing
from gateway.keys import key_of, new_token
from gateway.model import RouterKey, Scope
from gateway.office.desk import Office
from gateway.office.pool import PoolDesk
from gateway.routes.admin import Admin, is_local
from services.credentials.build.opening import opened
from services.credentials.settings import CredentialsSettings
from services.domain.catalog import build_catalog
from services.domain.errors import RouterError
from services.runtime.clock import SystemClock
from services.runtime.settings import CommonSettings
from tests.fakes.ports import INSTALLATION, MemoryKeyStore
from tests.integration.gateway.conftest import ADMIN, KEY, Stack

SECRET = "sk-ant-api03-canary-of-the-admin-api"
TOKEN = {"authorization": f"Bearer {ADMIN}"}

Document = Mapping[str, object]


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Stack]:
    """Give a gateway before a pool of its own."""
    settings = CredentialsSettings(database=f"sqlite:///{tmp_path}/c.db")
    async with opened(settings, CommonSettings(), build_catalog([]), SystemClock()) as channel:
        running = Stack(tmp_path / "ledger", pool=PoolClient(channel))
        await running.start()
        yield running
        await running.aclose()


async def ask(
    desk: Stack, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, Document]:
    """Return status and document of an order; the error itself where it is one."""
    sent = TOKEN | {name.replace("_", "-"): value for name, value in headers.items()}
    async with desk.session.request(method, f"/admin/v1/{path}", json=body, headers=sent) as answer:
        assert answer.headers["cache-control"] == "no-store"
        if answer.status == 204:
            return 204, {}
        document = await answer.json()
    found: Document = document.get("error", document)
    return answer.status, found


@pytest.mark.parametrize("path", ["keys", "credentials", "nothing", "keys/1/rotate"])
@pytest.mark.parametrize("token", ["", "Bearer wrong", f"Bearer {KEY}", ADMIN])
async def test_nobody_orders_without_the_token(desk: Stack, path: str, token: str) -> None:
    headers = {"authorization": token}
    async with desk.session.post(f"/admin/v1/{path}", json={}, headers=headers) as answer:
        assert answer.status == 401
        assert (await answer.json())["error"]["code"] == "invalid_admin_token"


async def test_what_is_not_offered_is_404_or_405(desk: Stack) -> None:
    for path in ("nothing", "keys/a/b", "credentials/x/y/z", "keys/" + "x" * 129):
        assert (await ask(desk, "GET", path))[0] == 404
    async with desk.session.put("/admin/v1/keys", headers=TOKEN) as answer:
        assert (answer.status, answer.headers["allow"]) == (405, "GET, POST")


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "complaint"),
    [
        ("POST", "keys", {}, "name", "name: must be set"),
        ("POST", "keys", {"name": "a", "scop": "routing"}, "scop", "did you mean 'scope'?"),
        ("POST", "keys", {"name": ""}, "name", "at least 1 character"),
        ("POST", "keys", {"name": "a", "expires_in_seconds": -1}, "expires_in_seconds", "greater"),
        ("POST", "keys", {"name": "a", "expires_in_seconds": 2**63}, "expires_in_seconds", "less"),
        ("POST", "keys", [1], "body", "body: must be a JSON object"),
        ("GET", "keys?instalation=x", None, "instalation", "did you mean 'installation'?"),
        ("POST", "keys/none/rotate", {"grace_seconds": 86_401}, "grace_seconds", "86400"),
        ("GET", "ledger?limit=0", None, "limit", "limit: a number from 1 to 1000"),
        ("POST", "credentials", {"secret": SECRET}, "provider", "provider: must be set"),
        ("POST", "credentials", {"provider": "acne", "secret": SECRET}, "provider", "must be one"),
        ("POST", "credentials", {"provider": "anthropic"}, "secret", "secret: must be set"),
        *(
            ("POST", "credentials", {"provider": "anthropic", "secret": SECRET, name: 2**63}, *told)
            for name, told in {
                "priority": ("priority", "less than or equal to 2147483647"),
                "max_in_flight": ("max_in_flight", "less than or equal to 2147483647"),
                "model_max_in_flight": ("model_max_in_flight", "less than or equal to 2147483647"),
                "expires_at": ("expires_at", "less than"),
            }.items()
        ),
        (
            *("POST", "credentials"),
            {"provider": "anthropic", "secret": SECRET, "label": "x" * 129},
            *("label", "at most 128 characters"),
        ),
        (
            *("POST", "credentials"),
            {
                "provider": "anthropic",
                "secret": SECRET,
                "aliases": {str(i): "x" for i in range(257)},
            },
            *("aliases", "aliases: must be at most 256 entries"),
        ),
    ],
)
async def test_a_field_that_cannot_be_used_is_named_with_the_fix(
    desk: Stack, method: str, path: str, body: object, field: str, complaint: str
) -> None:
    status, error = await ask(desk, method, path, body)
    assert (status, error["field"]) == (400, field)
    assert complaint in str(error["message"])
    assert "canary" not in str(error)


@pytest.mark.parametrize("key", [b"x" * 65, b"caf\xe9"])
async def test_a_key_of_an_order_that_cannot_be_kept_is_refused(desk: Stack, key: bytes) -> None:
    url = f"http://127.0.0.1:{desk.gateway.port}/admin/v1/credentials"
    sent = [(b"authorization", TOKEN["authorization"].encode()), (b"idempotency-key", key)]
    async with httpx.AsyncClient(trust_env=False) as client:
        wanted = {"provider": "anthropic", "secret": SECRET}
        answer = await client.post(url, json=wanted, headers=sent)
    error = answer.json()["error"]
    assert (answer.status_code, error["field"]) == (400, "idempotency-key")
    assert "at most 64 printable characters" in error["message"]


async def test_a_body_over_a_megabyte_is_refused(desk: Stack) -> None:
    large = io.BytesIO(b'{"name": "' + b"x" * 1024 * 1024 + b'"}')
    async with desk.session.post("/admin/v1/keys", data=large, headers=TOKEN) as answer:
        assert answer.status == 413
        assert "1048576 bytes" in (await answer.json())["error"]["message"]


async def test_a_credential_goes_in_once_and_its_secret_never_comes_out(desk: Stack) -> None:
    wanted = {
        "provider": "anthropic",
        "secret": SECRET,
        "headers": {"x-team": "canary-header"},
        "proxy": "http://canary@127.0.0.1:1",
        "window_scope": {"7d_oi": "family"},
        "unified_headers": True,
        "weight": 0,
    }
    shown = []
    with capture_logs() as lines:
        for _ in range(2):
            status, made = await ask(desk, "POST", "credentials", wanted, idempotency_key="once")
            assert status == 201
            shown.append(made)
        assert shown[0] == shown[1]
        one = made["credential"]
        assert isinstance(one, dict)
        path = f"credentials/{one['id']}"
        assert {name: one[name] for name in ("window_scope", "unified_headers", "weight")} == {
            "window_scope": {"7d_oi": "family"},
            "unified_headers": True,
            "weight": 0,
        }
        assert await ask(desk, "GET", path) == (200, made)
        assert await ask(desk, "GET", "credentials") == (200, {"credentials": [one]})
        fixed, error = await ask(desk, "PATCH", path, {"kind": "gateway"})
        assert (fixed, error["field"]) == (400, "kind")
        changed = (await ask(desk, "PATCH", path, {"label": "b"}, x_router_actor="ann"))[1]
        assert changed == {"credential": {**one, "label": "b"}}
        assert await ask(desk, "POST", f"{path}/reset", {}) == (
            200,
            {"id": one["id"], "cleared": 0},
        )
        assert await ask(desk, "DELETE", path) == (204, {})
        gone, error = await ask(desk, "DELETE", path)
    assert (gone, error["code"]) == (404, "CREDENTIAL_NOT_FOUND")
    orders = [line["operation"] for line in lines if line["event"] == "admin"]
    assert orders.count("POST credentials") == 2
    assert "PATCH credentials/{id}" in orders
    assert "canary" not in f"{lines}{shown}{changed}"


@pytest.mark.parametrize(
    ("remote", "is_here"),
    [
        (None, True),
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.9", True),
        ("fe80::1%eth0", False),
        ("172.17.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("elsewhere", False),
    ],
)
def test_peers_of_this_machine_are_told_from_others(remote: str | None, *, is_here: bool) -> None:
    assert is_local(remote) is is_here


@pytest.mark.parametrize("is_allowed", [False, True])
async def test_a_secret_from_another_machine_is_refused_unless_a_proxy_ends_tls(
    tmp_path: Path, *, is_allowed: bool
) -> None:
    settings = CredentialsSettings(database=f"sqlite:///{tmp_path}/c.db")
    async with opened(settings, CommonSettings(), build_catalog([]), SystemClock()) as channel:
        pool = PoolClient(channel)
        admin = Admin(
            Office(PoolDesk(pool).operations),
            SecretStr(ADMIN),
            is_plaintext_secret_allowed=is_allowed,
            is_local=lambda _: False,
        )
        wanted = {"provider": "anthropic", "secret": SECRET}
        async with RawTestServer(admin.serve) as server, aiohttp.ClientSession() as client:
            url = server.make_url("/admin/v1/credentials")
            async with client.get(url, headers=TOKEN) as listed:
                assert listed.status == 200
            async with client.post(url, json=wanted, headers=TOKEN) as answer:
                said = await answer.json()
        kept = len(await pool.all())
    if is_allowed:
        assert (answer.status, kept) == (201, 1)
        return
    assert (answer.status, said["error"]["field"], kept) == (400, "secret", 0)
    assert "clear text" in said["error"]["message"]
    assert "canary" not in str(said)


class SlowStore(MemoryKeyStore):
    """Finds a key, and lets something happen before it says so."""

    ring: KeyRing

    async def find(self, digest: str) -> RouterKey | None:
        """Return the key as it was before it was revoked."""
        found = await super().find(digest)
        if found is not None and self.lookups == 1:
            await self.revoke(INSTALLATION, found.id, 0.0)
            self.ring.forget(digest)
        return found


@pytest.mark.spec("OPS-100")
async def test_a_key_that_changes_while_it_is_looked_up_is_not_remembered_as_it_was() -> None:
    store, token = SlowStore(), new_token()
    store.ring = KeyRing(store, SystemClock())
    await store.add(key_of(token, INSTALLATION, name="a", now_unix_s=0.0))
    await store.ring.authenticate(token, Scope.ROUTING)
    with pytest.raises(RouterError):
        await store.ring.authenticate(token, Scope.ROUTING)
