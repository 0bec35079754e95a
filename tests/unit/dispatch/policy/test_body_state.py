from __future__ import annotations

import pytest

from services.dispatch.model.plan import BindingRef
from services.dispatch.policy.body import ClientBody, target_of
from services.domain.catalog import build_catalog
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import ProviderState
from services.domain.wire.state.kept import Place, Restored

PRICES = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
CATALOG = build_catalog([{"models": [{"id": "m", "bindings": [{"provider": "p", **PRICES}]}]}])
REF = BindingRef("m", "p")
SAID = (
    b'{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","tool_calls":'
    b'[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},'
    b'{"role":"tool","tool_call_id":"call_1","content":"y"}]}'
)


@pytest.mark.spec("XLT-181", "XLT-182")
def test_lost_state_returns_to_its_issuer_and_to_nobody_else() -> None:
    state = ProviderState(WireFamily.GEMINI, "signature", "payload")
    lost = [Restored(Place.CALL, "call_1", state)]
    body = ClientBody(WireFamily.OPENAI_CHAT, SAID, codec_for, restored=lost)
    for family in WireFamily:
        built = body.build(target_of(CATALOG, REF, family)).body
        assert (b"payload" in built) is (family is WireFamily.GEMINI)
