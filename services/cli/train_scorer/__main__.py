"""Runs the commands about scoring artifacts: ``python -m services.cli.train_scorer``."""

from __future__ import annotations

from services.cli.train_scorer.commands import app

if __name__ == "__main__":
    app()
