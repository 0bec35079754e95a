"""Where a part listens and what it dials."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.runtime import parts
from services.runtime.config import ConfigError, read_document
from services.runtime.settings import ServiceSettings


def test_a_part_listens_on_loopback_at_its_own_port_unless_told() -> None:
    options = parts.server_options("dispatch", ServiceSettings())
    assert (options.listen, options.ops_listen) == ("127.0.0.1:50055", "127.0.0.1:51055")


@pytest.mark.parametrize(
    ("listen", "ops_listen", "expected"),
    [
        ("0.0.0.0:50054", "", "0.0.0.0:51054"),
        ("[::1]:7", "", "[::1]:1007"),
        ("127.0.0.1:0", "", "127.0.0.1:0"),
        ("unix:/run/c.sock", "", "127.0.0.1:51054"),
        ("127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:2"),
    ],
)
def test_the_ops_listener_stands_a_thousand_ports_above(
    listen: str, ops_listen: str, expected: str
) -> None:
    settings = ServiceSettings(listen=listen, ops_listen=ops_listen)
    assert parts.server_options("credentials", settings).ops_listen == expected


@pytest.mark.parametrize("listen", ["50051", "nowhere", "127.0.0.1:", "127.0.0.1:65536"])
def test_a_listen_address_that_is_none_is_refused(listen: str) -> None:
    with pytest.raises(ValidationError, match="must be host:port"):
        ServiceSettings(listen=listen)


def test_a_listen_address_without_room_for_ops_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"services\.dispatch\.listen: must be host:port"):
        parts.server_options("dispatch", ServiceSettings(listen="127.0.0.1:65000"))


def test_a_peer_is_dialled_where_the_configuration_says() -> None:
    env = {"POINTSMAN_SERVICES__CREDENTIALS__TARGET": "dns:///c:1"}
    assert parts.target_of(read_document(None, env), "credentials") == "dns:///c:1"
    assert parts.target_of(read_document(None, {}), "credentials") == "127.0.0.1:50054"


def test_full_names_follow_the_contract() -> None:
    assert parts.full_name("dispatch") == "pointsman.dispatch.v1.DispatchService"
