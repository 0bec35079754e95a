from __future__ import annotations

import re

import pytest
from pydantic import SecretStr, ValidationError

from gateway.auth import LIVE_FOR_S, MOST_REFUSED, REFUSED_FOR_S, Expiring, KeyRing
from gateway.keys import digest_of, is_token, key_of, new_token
from gateway.model import Scope
from gateway.office.keys import KeyDesk
from gateway.office.model import Order
from gateway.settings import GatewaySettings, RoutingSettings, is_loopback
from services.cli.keyring import rows_of
from services.domain.errors import Reason, RouterError
from tests.fakes.clock import FakeClock
from tests.fakes.ports import INSTALLATION, MemoryKeyStore


@pytest.mark.spec("OPS-15")
def test_a_token_is_a_prefix_and_24_base62_characters() -> None:
    tokens = {new_token() for _ in range(200)}
    assert len(tokens) == 200
    assert all(re.fullmatch(r"rk_[0-9A-Za-z]{24}", token) for token in tokens)
    assert new_token(Scope.ANALYTICS_READ).startswith("ra_")


@pytest.mark.spec("OPS-15", "OPS-26")
def test_a_key_holds_a_digest_and_display_parts_alone() -> None:
    token = new_token()
    key = key_of(token, INSTALLATION, name="ci", now_unix_s=1.0)
    assert key.digest == digest_of(token)
    assert (key.display_prefix, key.display_suffix) == (token[:8], token[-4:])
    assert token not in repr(key)
    short = key_of("rk_0123456789abc", INSTALLATION, name="b", now_unix_s=1.0)
    assert (short.display_prefix, short.display_suffix) == ("", "")


def test_only_texts_of_our_form_are_looked_up() -> None:
    assert is_token("rk_x")
    assert not is_token("sk-x")
    assert not is_token("")
    assert not is_token("rk_" + "x" * 300)


async def _ring(clock: FakeClock) -> tuple[KeyRing, MemoryKeyStore, str, str]:
    store = MemoryKeyStore()
    token = new_token()
    now_unix_s = clock.now_unix_s()
    key = key_of(token, INSTALLATION, name="a", now_unix_s=now_unix_s)
    await store.add(key)
    return KeyRing(store, clock), store, token, key.id


@pytest.mark.spec("OPS-100")
async def test_verdicts_are_remembered_for_a_while(clock: FakeClock) -> None:
    ring, store, token, _ = await _ring(clock)
    for _ in range(3):
        await ring.authenticate(token, Scope.ROUTING)
    assert store.lookups == 1
    clock.advance(LIVE_FOR_S)
    await ring.authenticate(token, Scope.ROUTING)
    assert store.lookups == 2
    for _ in range(3):
        with pytest.raises(RouterError):
            await ring.authenticate("rk_unknown", Scope.ROUTING)
    assert store.lookups == 3
    clock.advance(REFUSED_FOR_S)
    with pytest.raises(RouterError):
        await ring.authenticate("rk_unknown", Scope.ROUTING)
    assert store.lookups == 4


async def test_a_revocation_counts_at_the_latest_when_the_memory_lapses(clock: FakeClock) -> None:
    ring, store, token, key_id = await _ring(clock)
    await ring.authenticate(token, Scope.ROUTING)
    assert await store.revoke(INSTALLATION, key_id, clock.now_unix_s())
    clock.advance(LIVE_FOR_S)
    with pytest.raises(RouterError):
        await ring.authenticate(token, Scope.ROUTING)


@pytest.mark.spec("OPS-20")
async def test_a_remembered_key_ends_with_its_grace(clock: FakeClock) -> None:
    ring, store, token, key_id = await _ring(clock)
    now_unix_s = clock.now_unix_s()
    successor = key_of(new_token(), INSTALLATION, name="", now_unix_s=now_unix_s)
    await store.rotate(
        INSTALLATION, key_id, successor, retire_unix_s=now_unix_s + 30, now_unix_s=now_unix_s
    )
    await ring.authenticate(token, Scope.ROUTING)
    clock.advance(31)
    with pytest.raises(RouterError):
        await ring.authenticate(token, Scope.ROUTING)


@pytest.mark.spec("OPS-18")
async def test_a_failed_lookup_is_never_remembered_as_a_refusal(clock: FakeClock) -> None:
    ring, store, token, _ = await _ring(clock)
    store.is_down = True
    with pytest.raises(RouterError) as caught:
        await ring.authenticate(token, Scope.ROUTING)
    assert caught.value.reason is Reason.STORE_UNAVAILABLE
    store.is_down = False
    await ring.authenticate(token, Scope.ROUTING)


def test_a_memory_is_bounded(clock: FakeClock) -> None:
    memory: Expiring[str] = Expiring(3, 10.0, clock.monotonic_s)
    for name in "abcd":
        memory.put(name, name)
    assert len(memory) == 3
    assert memory.get("a") is None
    assert memory.get("d") == "d"
    assert MOST_REFUSED == 50_000


# ---------------------------------------------------------------------------------------- settings


def test_a_bootstrap_key_has_a_form() -> None:
    GatewaySettings(bootstrap_key=SecretStr("rk_0123456789abc"))
    for bad in ("rk_short", "sk_0123456789abcdef"):
        with pytest.raises(ValidationError, match="bootstrap_key"):
            GatewaySettings(bootstrap_key=SecretStr(bad))


def test_an_open_listen_needs_a_long_bootstrap_key() -> None:
    with pytest.raises(ValidationError, match="32 characters"):
        GatewaySettings(listen="0.0.0.0:8080")
    long = SecretStr("rk_" + "x" * 29)
    GatewaySettings(listen="0.0.0.0:8080", bootstrap_key=long)


@pytest.mark.parametrize(
    ("listen", "is_local"),
    [
        ("127.0.0.1:1", True),
        ("127.9.9.9:1", True),
        ("localhost:1", True),
        ("[::1]:1", True),
        ("0.0.0.0:1", False),
        ("[::]:1", False),
        (":1", False),
        ("example.org:1", False),
    ],
)
def test_loopback_is_told_from_the_rest(listen: str, *, is_local: bool) -> None:
    assert is_loopback(listen) is is_local


def test_routing_says_what_can_be_chosen() -> None:
    with pytest.raises(ValidationError, match="requested"):
        RoutingSettings.model_validate({"strategy": "guess"})
    with pytest.raises(ValidationError, match="shadow"):
        RoutingSettings(shadow="cluster")
    with pytest.raises(ValidationError, match='set shadow = "cluster" beside'):
        RoutingSettings.model_validate({"strategy": "requested", "shadow": "requested"})
    known = RoutingSettings.model_validate({"strategy": "requested", "shadow": "cluster"})
    assert known.shadow == "cluster"


async def test_a_key_that_was_stored_with_an_end_beyond_the_calendar_is_listed(
    clock: FakeClock,
) -> None:
    store = MemoryKeyStore()
    token, now_unix_s = new_token(), clock.now_unix_s()
    await store.add(
        key_of(token, INSTALLATION, name="a", now_unix_s=now_unix_s, expires_unix_s=1e18)
    )
    (shown,) = rows_of(await KeyDesk(store, clock).all(Order()), "keys")
    assert (shown["state"], shown["expires"]) == ("live", "9999-12-31T23:59:59+00:00")
