from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.deciding.client_compactions import compaction_model
from gateway.deciding.pinned import Moment
from gateway.eligibility import freeze
from gateway.sessions.usage import record_use
from services.domain.catalog import build_catalog
from tests.unit.gateway.deciding.made import action, row
from tests.unit.gateway.facts import policy, question
from tests.unit.gateway.sessions.made import EMPTY, NOW, choice, pinned, use

CATALOG = build_catalog(
    [
        {
            "models": [
                {
                    **row("opus-8", "top", 5.0, "anthropic"),
                    "family": "opus",
                    "version": "8",
                    "automatic": False,
                },
                {
                    **row("opus-9", "top", 5.0, "anthropic"),
                    "family": "opus",
                    "version": "9",
                    "automatic": False,
                },
                {**row("opus-9.5", "top", 5.0, "away"), "family": "opus", "version": "9.5"},
                {**row("gpt-6", "top", 5.0, "openai"), "family": "gpt", "version": "6"},
                row("lone", "mid", 1.0, "openai"),
            ]
        }
    ]
)
MOMENT = Moment(CATALOG, freeze(question("anthropic", "openai"), policy(), CATALOG), "cluster", NOW)
BODY = b'{"model":"opus-8","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
ASKED = action(BODY)


def compacts(
    served: str,
    app: str,
    asked: str = "opus-8",
    *,
    is_pinned: bool = True,
    before: str = "",
    default: str = "",
) -> str:
    provider = CATALOG.models[served].bindings[0].provider if served else ""
    pin = choice(served, provider) if served and is_pinned else None
    session = EMPTY
    if before:
        held = pinned(made=choice(before, "openai"))
        session = record_use(held, use(before, "openai"), "cluster")
    if served:
        held = replace(pinned(made=choice(served, provider)), uses=session.uses)
        session = record_use(held, use(served, provider), "cluster")
    sent = replace(
        ASKED,
        caller=replace(ASKED.caller, client_app=app),
        features=replace(ASKED.features, requested_model=asked),
    )
    model = compaction_model(sent, session, pin, MOMENT, default)
    return model.id if model is not None else ""


@pytest.mark.spec("TRN-27")
def test_claude_code_stays_with_its_vendor_in_the_newest_version_that_may_serve() -> None:
    assert compacts("opus-8", "claude-code") == "opus-9"
    assert compacts("opus-8", "claude-code", "gpt-6") == "opus-9"
    assert compacts("gpt-6", "claude-code") == "opus-9"
    assert compacts("", "claude-code") == "opus-9"
    assert compacts("gpt-6", "claude-code", "gpt-6") == "gpt-6"


@pytest.mark.spec("TRN-27")
def test_others_stay_on_what_served_them_last_pinned_or_not() -> None:
    assert compacts("gpt-6", "codex", "opus-8") == "gpt-6"
    assert compacts("gpt-6", "codex", "opus-8", is_pinned=False) == "gpt-6"
    assert compacts("opus-8", "codex", "gpt-6") == "opus-9"
    assert compacts("", "codex", "gpt-6") == "gpt-6"
    assert compacts("lone", "", "gpt-6") == "lone"


@pytest.mark.spec("HND-111")
def test_codex_stays_with_the_other_vendor_that_served_it_last() -> None:
    assert compacts("opus-8", "codex", "gpt-6", before="lone") == "lone"
    assert compacts("gpt-6", "codex", "opus-8", before="lone") == "gpt-6"
    assert compacts("opus-8", "", "gpt-6", before="lone") == "opus-9"


@pytest.mark.spec("HND-111")
def test_claude_code_takes_the_operators_model_where_its_session_has_none_of_its_vendor() -> None:
    assert compacts("gpt-6", "claude-code", "gpt-6", default="opus-8") == "opus-9"
    assert compacts("opus-8", "claude-code", default="gpt-6") == "opus-9"
    assert compacts("", "codex", "anything", default="opus-8") == "opus-9"


def test_where_nobody_names_a_model_nobody_compacts() -> None:
    assert compacts("", "codex", "anything") == ""
