from __future__ import annotations

from dataclasses import replace

import pytest

from services.domain.errors import Reason, RouterError
from services.runtime.admission import Admission, is_local
from services.runtime.inprocess.context import InProcessContext

METHOD = "/pointsman.credentials.v1.CredentialsService/AcquireSecret"
RULES = Admission("credentials", secret_methods=frozenset({METHOD}))


class Remote(InProcessContext):
    """A caller from another machine."""

    def __init__(self, peer: str) -> None:
        super().__init__(1e12, (("x-caller-service", "dispatch"),), self._discard)
        self._peer = peer

    async def _discard(self, message: object) -> None:
        """Take nothing."""

    def peer(self) -> str:
        return self._peer


def refusal(rules: Admission, peer: str) -> Reason | None:
    try:
        caller = Remote(peer)
        rules.check(METHOD, caller, caller.invocation_metadata())
    except RouterError as error:
        return error.reason
    return None


@pytest.mark.parametrize(
    "peer", ["ipv4:10.0.0.7:5000", "ipv6:[fe80::1]:5000", "ipv6:%5Bfe80::1%5D:5000", ""]
)
def test_secrets_from_another_machine_need_tls_or_permission(peer: str) -> None:
    assert refusal(RULES, peer) is Reason.PLAINTEXT_SECRET_REFUSED
    assert refusal(replace(RULES, is_plaintext_secret_allowed=True), peer) is None
    assert refusal(replace(RULES, is_transport_secure=True), peer) is None


@pytest.mark.parametrize(
    "peer", ["inproc:", "unix:", "unix:/run/x", "ipv4:127.0.0.1:5", "ipv6:%5B::1%5D:5"]
)
def test_secrets_of_this_machine_pass(peer: str) -> None:
    assert is_local(peer)
    assert refusal(RULES, peer) is None


def test_a_draining_server_refuses_before_anything_else() -> None:
    rules = replace(RULES, is_draining=True)
    assert refusal(rules, "ipv4:10.0.0.7:5000") is Reason.DRAINING
