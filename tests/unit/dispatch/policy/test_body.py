from __future__ import annotations

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.dispatch.model.plan import BindingRef, Eligibility
from services.dispatch.policy.body import ClientBody, names_model, target_of, upstream_id_of
from services.dispatch.policy.mask import masked_body
from services.dispatch.policy.permit import is_permitted
from services.dispatch.policy.upstream_models import models_of, page_of
from services.domain.catalog import Quirks, build_catalog
from services.domain.errors import InvalidRequestError
from services.domain.vocab import WireFamily
from services.domain.wire.codecs import codec_for
from services.domain.wire.model import Address, HouseRules

BODY = (
    b'{"model": "m", "max_tokens": 5, "stream": true, "messages": [{"role":"user","content":"x"}]}'
)
PRICES = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 1.0}
CATALOG = build_catalog(
    [{"models": [{"id": "m", "bindings": [{"provider": "p", "upstream_id": "up-m", **PRICES}]}]}]
)
REF = BindingRef("m", "p")
WORDS = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    WORDS | st.booleans() | st.integers(-9, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
MEMBERS = st.dictionaries(WORDS, JSON, max_size=3)


@pytest.mark.spec("DSP-17")
def test_a_built_body_names_the_target_in_either_dialect() -> None:
    body = ClientBody(WireFamily.ANTHROPIC, BODY, codec_for)
    for family in (WireFamily.ANTHROPIC, WireFamily.OPENAI_CHAT):
        built = body.build(target_of(CATALOG, REF, family))
        assert orjson.loads(built.body)["model"] == "up-m"


@pytest.mark.parametrize(
    ("ref", "granted", "named"),
    [
        (BindingRef("m", "p", "planned"), "granted", "granted"),
        (BindingRef("m", "p", "planned"), "", "planned"),
        (BindingRef("m", "p"), "", "up-m"),
        (BindingRef("m", "another"), "", "m"),
    ],
)
def test_the_granted_endpoint_s_name_wins_then_the_plan_s_then_the_catalog_s(
    ref: BindingRef, granted: str, named: str
) -> None:
    assert upstream_id_of(CATALOG, ref, granted) == named


def test_a_body_whose_address_names_the_model_need_not() -> None:
    body = ClientBody(WireFamily.ANTHROPIC, BODY, codec_for)
    built = body.build(target_of(CATALOG, REF, WireFamily.GEMINI))
    assert "model" not in orjson.loads(built.body)


@pytest.mark.spec("XLT-26")
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_an_address_says_reaches_every_target(*, is_stream: bool) -> None:
    said = b'{"contents":[{"parts":[{"text":"x"}]}]}'
    body = ClientBody(WireFamily.GEMINI, said, codec_for, Address("models/m", is_stream))
    assert (body.request.model, body.request.is_stream) == ("m", is_stream)
    own = body.build(target_of(CATALOG, REF, WireFamily.GEMINI))
    assert own.body == said
    chat = orjson.loads(body.build(target_of(CATALOG, REF, WireFamily.OPENAI_CHAT)).body)
    assert chat["model"] == "up-m"
    assert chat.get("stream", False) is is_stream


@pytest.mark.spec("DSP-17")
def test_a_body_that_names_another_model_is_never_sent() -> None:
    assert not names_model(BODY, "up-m")
    assert not names_model(BODY, "")
    assert names_model(b'{"model" :\n"up-m"}', "up-m")
    assert names_model(rb'{"model":"up\/m\u00e9"}', "up/m\u00e9")
    assert not names_model(rb'{"text":"\"model\":\"up-m\""}', "up-m")


NESTED = (
    rb'{"metadata":{"model":"up-m"},"model":"other"}',
    rb'{"tools":[{"model":"up-m"}],"model":"other"}',
    rb'{"model":"other","metadata":{"model":"up-m"}}',
    rb'{"a \"model":"up-m"}',
    rb'{"a}\"model":"up-m"}',
)


@pytest.mark.spec("DSP-17")
@pytest.mark.parametrize("body", NESTED)
def test_what_is_named_inside_another_member_does_not_count(body: bytes) -> None:
    assert not names_model(body, "up-m")


@pytest.mark.spec("DSP-17")
@given(MEMBERS, MEMBERS, WORDS.filter(bool))
def test_the_outermost_member_is_found_wherever_it_stands(
    before: dict[str, object], after: dict[str, object], name: str
) -> None:
    front = {key: value for key, value in before.items() if key != "model"}
    back = {key: value for key, value in after.items() if key != "model" and key not in front}
    inner = {"model": f"{name}-not"}
    body = orjson.dumps({"first": inner, **front, "model": name, **back, "last": [inner]})
    assert names_model(body, name)
    assert not names_model(body, f"{name}-not")


def test_an_unreadable_body_names_its_place() -> None:
    with pytest.raises(InvalidRequestError) as caught:
        _ = ClientBody(WireFamily.ANTHROPIC, b'{"messages": 5}', codec_for).request
    assert caught.value.violations[0].field.startswith("body.body")


def test_the_name_at_the_granted_endpoint_wins() -> None:
    target = target_of(CATALOG, REF, WireFamily.ANTHROPIC, granted_upstream_id="alias")
    assert target.upstream_id == "alias"
    assert target_of(CATALOG, BindingRef("new", "p"), WireFamily.ANTHROPIC).upstream_id == "new"


def test_keys_in_bodies_are_masked_and_nothing_else_changes() -> None:
    body = b'{"error":"key sk-abcdefghijklmnop bad","id":"req_0123456789abcdef0123456789abcdef"}'
    masked = b'{"error":"key *** bad","id":"req_0123456789abcdef0123456789abcdef"}'
    assert masked_body(body) == masked


@pytest.mark.spec("POL-38")
@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (Eligibility("i"), True),
        (Eligibility("i", providers=frozenset({"p"})), True),
        (Eligibility("i", providers=frozenset()), False),
        (Eligibility("i", excluded_providers=frozenset({"p"})), False),
        (Eligibility("i", excluded_models=frozenset({"m"})), False),
        (Eligibility("i", excluded_bindings=frozenset({("m", "p")})), False),
        (Eligibility("i", excluded_bindings=frozenset({("m", "q")})), True),
        (Eligibility("i", is_gateway_exclusive=True), False),
        (
            Eligibility(
                "i",
                providers=frozenset(),
                excluded_providers=frozenset({"p"}),
                is_gateway_exclusive=True,
                gateway_models={"p": frozenset({"m"})},
            ),
            True,
        ),
    ],
)
def test_the_record_says_what_may_serve(record: Eligibility, expected: bool) -> None:
    assert is_permitted(record, "m", "p") is expected


def test_a_list_is_sorted_bound_to_the_catalog_and_paged() -> None:
    body = b'{"data":[{"id":"up-m","display_name":"M"},{"id":"b"},{"id":"a"},{"no":1},7]}'
    models = models_of(body, "p", CATALOG)
    assert models is not None
    assert [model.upstream_id for model in models] == ["a", "b", "up-m"]
    assert models[2].model_id == "m"
    page, after = page_of(models, "", 2)
    assert ([model.upstream_id for model in page], after) == (["a", "b"], "b")
    page, after = page_of(models, after, 2)
    assert ([model.upstream_id for model in page], after) == (["up-m"], "")


@pytest.mark.parametrize("body", [b"", b"<html>", b"{}", b"[]", b'{"data":{"a":1}}', b'{"data":['])
def test_what_is_no_list_is_none(body: bytes) -> None:
    assert models_of(body, "p", CATALOG) is None
    assert models_of(b'{"data":[]}', "p", CATALOG) == ()


@pytest.mark.spec("XLT-213")
def test_a_list_with_numbers_and_names_that_no_message_holds_is_listed() -> None:
    listed = rb'{"data":[{"id":"a\ud800","name":"\ud800","context_window":1e300,"max_tokens":-1}]}'
    (model,) = models_of(listed, "p", CATALOG) or ()
    assert (model.upstream_id, model.display_name) == ("a\ufffd", "\ufffd")
    assert (model.context_window_tokens, model.max_output_tokens) == (0, 0)


def test_a_target_has_the_wishes_of_its_binding_and_the_rules_of_the_house() -> None:
    rows = [
        {"provider": "p", "extra_members": {"tool_stream": True}, **PRICES},
        {"provider": "q", **PRICES},
    ]
    catalog = build_catalog([{"models": [{"id": "m", "bindings": rows}]}])
    rules = HouseRules(removed_tools=frozenset({"Skill"}))
    chat = WireFamily.OPENAI_CHAT
    target = target_of(catalog, BindingRef("m", "p"), chat, effort="low", rules=rules)
    assert target.quirks.members == (("tool_stream", b"true"),)
    assert (target.effort, target.rules) == ("low", rules)
    other = target_of(catalog, BindingRef("m", "q", binding_index=1), chat)
    assert other.quirks == Quirks()
    body = ClientBody(WireFamily.ANTHROPIC, BODY, codec_for)
    assert orjson.loads(body.build(target).body)["tool_stream"] is True
    assert "tool_stream" not in orjson.loads(body.build(other).body)
