"""What of the configuration may change while a process runs."""

from __future__ import annotations

import pytest

from services.embedded.settings import Settings
from services.runtime.lasting import changed_keys, effective, waiting_keys

FIRST = Settings.model_validate(
    {
        "providers": {"acme": {"family": "gemini", "base_url": "http://127.0.0.1:1"}},
        "credentials": [{"provider": "acme", "secret": "a"}],
        "routing": {"strategy": "requested"},
    }
)


def changed(**tables: object) -> Settings:
    """Return the settings with other tables."""
    return Settings.model_validate({**FIRST.model_dump(exclude_unset=True), **tables})


@pytest.mark.parametrize(
    ("newer", "keys"),
    [
        (FIRST, []),
        (changed(credentials=[{"provider": "acme", "secret": "b"}]), ["credentials.0.secret"]),
        (changed(credentials=[]), ["credentials"]),
        (changed(credentials=[{"provider": "acme", "secret": "a"}] * 2), ["credentials"]),
        (changed(providers={}), ["providers.acme", "providers"]),
        (changed(log={"level": "debug"}), ["log.level"]),
        (changed(services={"dispatch": {"listen": "127.0.0.1:1"}}), ["services.dispatch.listen"]),
    ],
)
def test_keys_that_differ_are_named_once(newer: Settings, keys: list[str]) -> None:
    assert changed_keys(FIRST, newer) == keys


def test_what_lasts_stays_and_the_rest_is_taken() -> None:
    newer = changed(
        routing={"strategy": "cluster", "excluded_models": ["m"]},
        gateway={"max_body_bytes": 5},
        shared={"valkey_url": "redis://elsewhere"},
        catalog={"extend": ["x.toml"]},
    )
    taken = effective(FIRST, newer)
    assert waiting_keys(FIRST, newer) == [
        "shared.valkey_url",
        "gateway.max_body_bytes",
        "routing.strategy",
    ]
    assert (taken.gateway, taken.shared) == (FIRST.gateway, FIRST.shared)
    assert taken.routing.strategy is FIRST.routing.strategy
    assert (taken.routing.excluded_models, taken.catalog.extend) == (("m",), ("x.toml",))
    assert waiting_keys(FIRST, taken) == []
    assert waiting_keys(FIRST.gateway, newer.gateway, "gateway") == ["gateway.max_body_bytes"]
