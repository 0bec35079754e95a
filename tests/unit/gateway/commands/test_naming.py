from __future__ import annotations

import pytest

from gateway.commands.naming import named
from services.domain.catalog import build_catalog
from tests.unit.gateway.deciding.made import row

CATALOG = build_catalog(
    [
        {
            "models": [
                row("gpt-9", "top", 5.0, "openai"),
                row("claude-9", "top", 5.0, "anthropic"),
                row("acme/fast", "low", 1.0),
                row("acme/both", "low", 1.0),
                row("globex/both", "low", 1.0),
            ]
        }
    ]
)


@pytest.mark.spec("TRN-73")
@pytest.mark.parametrize(
    ("name", "model", "effort"),
    [
        ("gpt-9", "gpt-9", ""),
        ("GPT-9:high", "gpt-9", "high"),
        ("claude-9-20260101", "claude-9", ""),
        ("openai/gpt-9", "gpt-9", ""),
        ("openai/gpt-9:low", "gpt-9", "low"),
        ("fast", "acme/fast", ""),
        ("Fast:max", "acme/fast", "max"),
        ("acme/both", "acme/both", ""),
    ],
)
def test_a_name_means_one_model_exactly(name: str, model: str, effort: str) -> None:
    found = named(name, CATALOG)
    assert found is not None
    assert (found.model.id, found.effort) == (model, effort)


@pytest.mark.spec("TRN-73")
@pytest.mark.parametrize("name", ["", "gpt", "gpt-9:loud", "both", "openai/claude-9", "openai/"])
def test_other_names_mean_none(name: str) -> None:
    assert named(name, CATALOG) is None
