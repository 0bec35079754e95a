"""Runs the planner apart: ``python -m services.planner``."""

from __future__ import annotations

import sys

from services.planner.build import build
from services.planner.settings import PlannerSettings
from services.runtime import parts

if __name__ == "__main__":
    sys.exit(parts.main("planner", PlannerSettings, build))
