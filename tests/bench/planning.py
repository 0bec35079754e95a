"""The planner's simulated figure, in one line beside the measured ones."""

from __future__ import annotations

from services.cli.simulate_planner.campaign import (
    BASE_RISK_PRICE_USD,
    BOUND,
    VALUE,
    Campaign,
    contestants,
    run,
)
from services.cli.simulate_planner.report import headline


def planner_line(sessions: int) -> str:
    """Return what the production rule costs beside its bound; some seconds of CPU."""
    everyone = contestants(BASE_RISK_PRICE_USD)
    who = {name: everyone[name] for name in (BOUND, VALUE)}
    return headline(run(Campaign(sessions=sessions), who))
