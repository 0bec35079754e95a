"""Models that insist on signed calls serve no history whose calls they did not sign."""

from __future__ import annotations

import json

import pytest

from gateway.eligibility import freeze
from gateway.eligibility.removals import model_removal_of, permits
from gateway.model import Layer
from gateway.plan import planned_bindings
from services.domain.catalog import build_catalog
from services.domain.errors import Reason, RouterError
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.features import Requirement, features_of
from services.domain.wire.model import ProviderState
from services.domain.wire.state.sealing import with_state
from tests.unit.gateway.facts import features, policy, question

PRICES = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
CATALOG = build_catalog(
    [
        {
            "models": [
                {
                    "id": "signing",
                    "signed_tool_history": True,
                    "bindings": [{"provider": "p1", **PRICES}, {"provider": "p2", **PRICES}],
                },
                {"id": "mild", "bindings": [{"provider": "p1", **PRICES}]},
            ]
        }
    ]
)
NEED = (Requirement.SIGNED_TOOL_HISTORY,)
SIGNED = with_state("call_1", ProviderState(WireFamily.GEMINI, "signature", "payload"))
FOREIGN = with_state("call_1", ProviderState(WireFamily.ANTHROPIC, "signature", "payload"))


def chat(*ids: str, more: bool = False) -> bytes:
    """Return a chat request whose history made these calls in one turn."""
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids
    ]
    messages: list[object] = [{"role": "user", "content": "go"}]
    messages.append({"role": "assistant", "content": None, "tool_calls": calls})
    messages += [{"role": "tool", "tool_call_id": i, "content": "ok"} for i in ids]
    messages += [{"role": "user", "content": "and now?"}] * more
    return json.dumps({"model": "m", "messages": messages}).encode()


@pytest.mark.spec("XLT-156", "XLT-218")
@pytest.mark.parametrize(
    ("body", "is_unsigned"),
    [
        (chat("call_1"), True),
        (chat("call_1", more=True), True),
        (chat(SIGNED), False),
        (chat(SIGNED, "call_2"), False),
        (chat("call_2", SIGNED), False),
        (chat(FOREIGN), True),
        (chat(SIGNED[:40]), True),
        (b'{"model":"m","messages":[{"role":"user","content":"go"}]}', False),
    ],
)
def test_unsigned_calls_are_seen(body: bytes, *, is_unsigned: bool) -> None:
    found = features_of(codec_for(WireFamily.OPENAI_CHAT).decode_request(body), len(body))
    assert (Requirement.SIGNED_TOOL_HISTORY in found.requirements) is is_unsigned


@pytest.mark.spec("XLT-156")
@pytest.mark.parametrize(("words", "is_unsigned"), [("and now?", False), ("", True)])
def test_of_its_own_clients_only_the_open_turn_counts(words: str, *, is_unsigned: bool) -> None:
    last = [{"functionResponse": {"name": "f", "response": {}}}]
    contents: list[object] = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": last},
    ]
    contents += [{"role": "user", "parts": [{"text": words}]}] if words else []
    body = json.dumps({"contents": contents}).encode()
    found = features_of(codec_for(WireFamily.GEMINI).decode_request(body), len(body))
    assert (Requirement.SIGNED_TOOL_HISTORY in found.requirements) is is_unsigned


@pytest.mark.spec("XLT-156", "HND-85")
def test_an_insisting_model_is_left_out_and_others_serve() -> None:
    limits = policy(families={"p1": WireFamily.GEMINI, "p2": WireFamily.GEMINI})
    asked = question(
        "p1", "p2", features=features(requirements=NEED), family=WireFamily.OPENAI_CHAT
    )
    record = freeze(asked, limits, CATALOG)
    assert model_removal_of(record, "signing") is Layer.REQUIREMENT_INCOMPATIBLE
    assert permits(record, "mild", "p1")
    signed = question("p1", "p2", features=features(), family=WireFamily.OPENAI_CHAT)
    assert permits(freeze(signed, limits, CATALOG), "signing", "p1")


@pytest.mark.spec("XLT-156")
def test_a_binding_of_another_dialect_does_not_insist() -> None:
    limits = policy(families={"p1": WireFamily.GEMINI, "p2": WireFamily.OPENAI_CHAT})
    asked = question(
        "p1", "p2", features=features(requirements=NEED), family=WireFamily.OPENAI_CHAT
    )
    record = freeze(asked, limits, CATALOG)
    assert not permits(record, "signing", "p1")
    assert permits(record, "signing", "p2")


@pytest.mark.spec("XLT-156")
def test_where_nothing_else_may_serve_the_client_is_told_why() -> None:
    asked = question("p1", "p2", features=features(requirements=NEED), family=WireFamily.ANTHROPIC)
    limits = policy(families={"p1": WireFamily.GEMINI, "p2": WireFamily.GEMINI})
    record = freeze(asked, limits, CATALOG)
    with pytest.raises(RouterError) as caught:
        planned_bindings(CATALOG.models["signing"], record, needs=NEED)
    assert caught.value.reason is Reason.TRANSLATION_INTRINSICALLY_INCOMPATIBLE
    assert "did not sign" in caught.value.message
