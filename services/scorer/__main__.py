"""Runs the scorer apart: ``python -m services.scorer``."""

from __future__ import annotations

import sys

from services.runtime import parts
from services.scorer.build import build
from services.scorer.settings import ScorerSettings

if __name__ == "__main__":
    sys.exit(parts.main("scorer", ScorerSettings, build))
