"""Addresses to listen on are checked before anything binds them."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.settings import GatewaySettings


@pytest.mark.spec("OPS-95")
@pytest.mark.parametrize("name", ["listen", "rpc_listen", "ops_listen"])
@pytest.mark.parametrize("address", ["8080", "localhost", "127.0.0.1:", "127.0.0.1:99999", "a:-1"])
def test_what_is_no_address_is_named_with_one_that_is(name: str, address: str) -> None:
    with pytest.raises(ValidationError) as caught:
        GatewaySettings.model_validate({name: address})
    (error,) = caught.value.errors()
    assert error["loc"] == (name,)
    assert "must be host:port, such as 127.0.0.1:8080" in error["msg"]


@pytest.mark.parametrize("address", ["127.0.0.1:0", "[::1]:65535", "localhost:8080"])
def test_what_only_this_machine_reaches_needs_no_key(address: str) -> None:
    assert GatewaySettings.model_validate({"listen": address}).listen == address


def test_only_the_router_service_may_listen_nowhere() -> None:
    assert GatewaySettings.model_validate({"rpc_listen": ""}).rpc_listen == ""
    for name in ("listen", "ops_listen"):
        with pytest.raises(ValidationError, match="must be host:port"):
            GatewaySettings.model_validate({name: ""})
