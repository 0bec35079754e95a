from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.deciding.budgets import LONG_BETA, client_budget
from gateway.model.compaction import NO_BUDGET, BudgetEvidence, ClientBudget
from services.domain.catalog import build_catalog
from tests.unit.gateway.deciding.made import action, row

VERIFIED = "claude-cli/2.1.257 (external, cli)"
CATALOG = build_catalog(
    [
        {
            "models": [
                row("claude-large", "top", 5.0, "anthropic"),
                {**row("claude-long", "top", 5.0, "anthropic"), "context_window": 1_000_000},
                {**row("claude-able", "top", 5.0, "anthropic"), "extended_context": True},
                row("gpt-6", "top", 5.0, "openai"),
            ]
        }
    ]
)


def budget(
    model: str = "claude-large", agent: str = VERIFIED, beta: str = "", app: str = "claude-code"
) -> ClientBudget:
    body = f'{{"model":"{model}","max_tokens":9,"messages":[{{"role":"user","content":"x"}}]}}'
    asked = action(body.encode())
    headers = (("user-agent", agent), ("anthropic-beta", beta))
    caller = replace(asked.caller, client_app=app, relayed_headers=headers)
    return client_budget(replace(asked, caller=caller), CATALOG)


@pytest.mark.spec("HND-114", "HND-115")
@pytest.mark.parametrize(
    ("model", "threshold"),
    [
        ("claude-large", 167_000),
        ("claude-large-20260101", 167_000),
        ("anthropic/claude-large", 167_000),
        ("claude-long", 167_000),
        ("claude-long[1m]", 967_000),
        ("claude-large[1m]", 167_000),
        ("claude-able", 167_000),
        ("claude-able[1m]", 967_000),
    ],
)
def test_a_verified_version_has_its_default_threshold(model: str, threshold: int) -> None:
    found = budget(model)
    assert found == ClientBudget(BudgetEvidence.HARNESS_DEFAULT, threshold, may_defer=True)


@pytest.mark.spec("HND-114", "HND-117")
@pytest.mark.parametrize(
    "agent",
    [
        "",
        "claude-cli/2.1.256 (external, cli)",
        "claude-cli/2.1.258 (external, cli)",
        "claude-cli/2.1.2571",
        "claude-cli/2.1.257-beta",
        "claude-cli/2.1.257.1",
        "claude-cli/2.1",
        "my claude-cli/2.1.257",
    ],
)
def test_of_any_other_version_nothing_is_known(agent: str) -> None:
    assert budget(agent=agent) == NO_BUDGET


@pytest.mark.spec("HND-114", "HND-59")
def test_of_other_programs_and_models_nothing_is_known() -> None:
    assert budget(app="codex") == NO_BUDGET
    assert budget(app="") == NO_BUDGET
    assert budget("gpt-6") == NO_BUDGET
    assert budget("claude-unheard-of") == NO_BUDGET


@pytest.mark.spec("HND-113")
def test_every_request_is_judged_by_itself() -> None:
    assert budget().threshold_tokens == 167_000
    assert budget(agent="claude-cli/2.0.1") == NO_BUDGET
    assert budget().threshold_tokens == 167_000


@pytest.mark.spec("HND-116")
def test_a_beta_without_its_tag_leaves_the_window_open() -> None:
    ambiguous = ClientBudget(BudgetEvidence.AMBIGUOUS_LONG_CONTEXT)
    assert budget("claude-long", beta=f"a, {LONG_BETA}") == ambiguous
    assert budget("claude-long[1m]", beta=LONG_BETA).threshold_tokens == 967_000
    assert budget("claude-large", beta=LONG_BETA).threshold_tokens == 167_000, "it cannot"
    assert budget("claude-long", beta=f"x{LONG_BETA}, {LONG_BETA}1").threshold_tokens == 167_000
