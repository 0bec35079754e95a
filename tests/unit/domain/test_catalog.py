"""Keys of the catalog that only scoring reads."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from services.domain.catalog import Catalog, CatalogError, build_catalog
from services.domain.vocab import WireFamily


def entry(**keys: object) -> dict[str, object]:
    binding = {"provider": "acme", "input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
    return {"models": [{"id": "m", "tier": "mid", "bindings": [binding], **keys}]}


def test_a_model_keeps_its_skill_and_the_model_it_is_scored_as() -> None:
    model = build_catalog([entry(skill=0.7, scored_as="gpt-4-1106")]).models["m"]
    assert (model.skill, model.scored_as) == (0.7, "gpt-4-1106")
    plain = build_catalog([entry()]).models["m"]
    assert (plain.skill, plain.scored_as) == (None, "")


@pytest.mark.parametrize(
    ("key", "value"),
    [("skill", 1.01), ("skill", -0.1), ("skill", True), ("skill", "high"), ("scored_as", "")],
)
def test_a_skill_out_of_range_and_an_empty_name_are_refused(key: str, value: object) -> None:
    with pytest.raises(CatalogError, match=f"model 'm': {key}"):
        build_catalog([entry(**{key: value})])


@pytest.mark.spec("XLT-207")
def test_a_binding_names_what_its_endpoint_wants() -> None:
    row = {
        "provider": "acme",
        "input_usd_per_mtok": 1.0,
        "output_usd_per_mtok": 2.0,
        "extra_members": {"provider": {"order": ["a"]}, "top_p": 0.8},
        "extra_members_with_tools": {"temperature": 0},
        "tool_guidance": "exact_edits",
    }
    quirks = build_catalog([entry(bindings=[row])]).models["m"].bindings[0].quirks
    assert quirks.members == (("provider", b'{"order":["a"]}'), ("top_p", b"0.8"))
    assert quirks.tool_members == (("temperature", b"0"),)
    assert quirks.tool_guidance == "exact_edits"
    for key, value in (("extra_members", [1]), ("tool_guidance", "loud"), ("extra_members", "x")):
        with pytest.raises(CatalogError, match=f"binding 0: {key}"):
            build_catalog([entry(bindings=[row | {key: value}])])


@pytest.mark.spec("XLT-83", "XLT-106")
def test_facts_of_targets_are_read() -> None:
    facts = build_catalog([entry(many_tools=True, validated_calls=True, extended_context=False)])
    told = facts.models["m"].facts
    assert (told.many_tools, told.validated_calls, told.extended_context) == (True, True, False)
    plain = build_catalog([entry()]).models["m"].facts
    assert (plain.many_tools, plain.validated_calls, plain.extended_context) == (False, False, None)


@pytest.mark.spec("SCO-23")
def test_a_binding_may_have_an_output_limit_of_its_own() -> None:
    price = {"input_usd_per_mtok": 1.0, "output_usd_per_mtok": 2.0}
    rows = [{"provider": "a", **price}, {"provider": "b", "max_output_tokens": 10, **price}]
    model = build_catalog([entry(max_output_tokens=99, bindings=rows)]).models["m"]
    assert [binding.max_output_tokens for binding in model.bindings] == [99, 10]


@pytest.mark.spec("XLT-86")
def test_a_model_takes_forced_choices_of_tools_unless_its_entry_denies_it() -> None:
    told = build_catalog([entry(forced_tool_use=False)]).models["m"].facts
    assert (told.forced_tool_use, build_catalog([entry()]).models["m"].facts.forced_tool_use) == (
        False,
        True,
    )
    with pytest.raises(CatalogError, match="model 'm': forced_tool_use must be true or false"):
        build_catalog([entry(forced_tool_use="no")])


@pytest.mark.spec("XLT-164")
def test_a_name_s_suffix_forces_an_effort_where_no_model_has_the_whole_name() -> None:
    known = entry()["models"]
    assert isinstance(known, list)
    catalog = build_catalog([{"models": [*known, {**known[0], "id": "n:low"}]}])
    for name, model_id, effort in (
        ("m", "m", ""),
        ("m:high", "m", "high"),
        ("M:Ultra[1m]", "m", "xhigh"),
        ("m-20260101:low", "m", "low"),
        ("n:low", "n:low", ""),
        ("n:low:high", "n:low", "high"),
        ("m:loud", None, ""),
    ):
        found = catalog.resolve(name)
        assert (found.id if found else None) == model_id, name
        assert catalog.effort_of(name) == effort, name


def several(*entries: Mapping[str, object]) -> Catalog:
    models = [entry(**keys)["models"] for keys in entries]
    return build_catalog(
        [{"models": [row for rows in models if isinstance(rows, list) for row in rows]}]
    )


GENERATIONS: tuple[dict[str, object], ...] = (
    {"id": "s-4.9", "version": "4.9"},
    {"id": "s-4.10", "version": "4.10"},
)


@pytest.mark.spec("SCO-62")
def test_two_generations_of_a_family_are_refused_unless_one_steps_back_or_stays_by_right() -> None:
    rows = [{**row, "family": "s"} for row in GENERATIONS]
    with pytest.raises(CatalogError, match=r"model 's-4\.9': 's-4\.10' is of the same family 's'"):
        several(*rows)
    ways: tuple[dict[str, object], ...] = (
        {"automatic": False},
        {"distinct": True},
        {"family": "s-mini"},
    )
    for older in ways:
        told = several(rows[0] | older, rows[1]).models["s-4.9"]
        assert told.is_automatic is ("automatic" not in older)
        assert told.is_distinct is ("distinct" in older)


@pytest.mark.spec("SCO-63")
def test_a_model_without_a_tier_is_never_automatic() -> None:
    catalog = several({"id": "a", "tier": "unknown"}, {"id": "b"}, {"id": "c", "automatic": False})
    assert [name for name, model in catalog.models.items() if model.is_automatic] == ["b"]


@pytest.mark.spec("SCO-61")
def test_the_latest_of_a_family_goes_by_numbers_and_keeps_variants_apart() -> None:
    catalog = several(
        {"id": "s-4.9", "version": "4.9", "family": "s", "automatic": False},
        {"id": "s-4.10", "version": "4.10", "family": "s"},
        {"id": "s-5-mini", "version": "5", "family": "s-mini"},
        {"id": "s-6", "version": "6", "family": "s", "automatic": False},
        {"id": "lone"},
    )
    for name, newest in (
        ("s-4.9", "s-4.10"),
        ("s-4.9-20260101", "s-4.10"),
        ("s-4.10", "s-4.10"),
        ("s-6", "s-6"),
        ("s-5-mini", "s-5-mini"),
        ("lone", "lone"),
        ("stranger", None),
    ):
        found = catalog.latest(name)
        assert (found.id if found else None) == newest, name


@pytest.mark.parametrize("day", ["2026-13-01", "20261130", "soon", 20261130, True])
def test_a_day_that_is_none_is_refused(day: object) -> None:
    with pytest.raises(CatalogError, match="model 'm': as_of must be a day"):
        build_catalog([entry(as_of=day)])


@pytest.mark.spec("XLT-126")
def test_a_binding_chooses_between_openai_s_dialects_only_where_its_provider_has_them() -> None:
    row = {
        "provider": "acme",
        "input_usd_per_mtok": 1.0,
        "output_usd_per_mtok": 2.0,
        "wire_family": "openai_responses",
    }
    wishful = build_catalog([entry(bindings=[row])]).models["m"].bindings[0]
    plain = build_catalog([entry()]).models["m"].bindings[0]
    for family in WireFamily:
        is_openai = family in (WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES)
        assert wishful.dialect_at(family) is (WireFamily.OPENAI_RESPONSES if is_openai else family)
        assert plain.dialect_at(family) is family
    with pytest.raises(CatalogError, match="binding 0: wire_family must be one of openai_chat"):
        build_catalog([entry(bindings=[row | {"wire_family": "gemini"}])])
