"""What cannot be stored, sent or shown is refused by its field, and its value is not told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pointsman.common.v1 import grant_pb2
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import operator
from services.domain.errors import InvalidRequestError

Change = Callable[[pb.CreateCredentialRequest], object]
CANARY = "canary"


def creation() -> pb.CreateCredentialRequest:
    """Return a request that is fine."""
    return pb.CreateCredentialRequest(
        idempotency_key="k",
        spec=pb.CredentialSpec(provider="p", kind=grant_pb2.CREDENTIAL_KIND_API_KEY),
        secrets=pb.CredentialSecrets(value_secret=f" {CANARY}\n"),
        actor="ann",
    )


def with_base(url: str) -> Change:
    return lambda asked: setattr(asked.spec, "base_url", url)


def with_proxy(url: str) -> Change:
    return lambda asked: setattr(asked.secrets, "proxy_url_secret", url)


def with_header(name: str, value: str) -> Change:
    return lambda asked: asked.secrets.headers.add(name=name, value_secret=value)


BASE, PROXY = "spec.base_url", "secrets.proxy_url_secret"
BAD: list[tuple[str, Change]] = [
    ("secrets.value_secret", lambda a: setattr(a.secrets, "value_secret", f"{CANARY}\r\nx: y")),
    ("secrets.account_id", lambda a: setattr(a.secrets, "account_id", f"{CANARY}\x00")),
    ("secrets.headers[0].name", with_header("x a", CANARY)),
    ("secrets.headers[0].name", with_header("x\r\na", CANARY)),
    ("secrets.headers[0].value_secret", with_header("x-a", f"{CANARY}\nx: y")),
    (PROXY, with_proxy(f"{CANARY}.example:1")),
    (PROXY, with_proxy(f"http://{CANARY}\n.example:1")),
    (PROXY, with_proxy(f"http://{CANARY}.example:99999")),
    (BASE, with_base(f"http://u:{CANARY}@gateway.example/v1")),
    (BASE, with_base(f"http://gateway.example/v1?key={CANARY}")),
    (BASE, with_base(f"http://gateway.example/v1#{CANARY}")),
    (BASE, with_base(f"http://gateway.example/\r\n{CANARY}")),
    (BASE, with_base(f"http://gate way.example/{CANARY}")),
    ("spec.installation_id", lambda a: setattr(a.spec, "installation_id", CANARY * 11)),
    ("spec.overage", lambda a: setattr(a.spec, "overage", pb.OVERAGE_POLICY_UNSPECIFIED)),
    ("spec.cooling", lambda a: setattr(a.spec, "cooling", pb.COOLING_POLICY_UNSPECIFIED)),
    ("spec", lambda a: a.spec.model_ids.extend([CANARY] * 10_000)),
]


@pytest.mark.parametrize(("field", "change"), BAD)
def test_what_cannot_be_used_is_refused_by_its_field_and_not_shown(
    field: str, change: Change
) -> None:
    asked = creation()
    change(asked)
    with pytest.raises(InvalidRequestError) as caught:
        operator.decode_create(asked, ["p"])
    assert caught.value.violations[0].field == field
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    "nothing", [pb.CredentialSecrets(), pb.CredentialSecrets(value_secret="\n")]
)
def test_secrets_that_hold_nothing_change_none(nothing: pb.CredentialSecrets) -> None:
    asked = pb.UpdateCredentialRequest(credential_id="c", actor="ann", secrets=nothing)
    assert operator.decode_update(asked).secrets is None


def test_what_can_be_used_is_taken() -> None:
    asked = creation()
    with_base("https://gateway.example:8443/v1/")(asked)
    with_proxy("http://user:word@proxy.example:3128")(asked)
    with_header("X-Team", "a b")(asked)
    made = operator.decode_create(asked, ["p"])
    assert made.secrets.value == CANARY
    assert made.secrets.headers == (("x-team", "a b"),)
    assert made.spec.base_url == "https://gateway.example:8443/v1"
