"""Keys of the catalog that only scoring reads."""

from __future__ import annotations

import pytest

from services.domain.catalog import CatalogError, build_catalog


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
