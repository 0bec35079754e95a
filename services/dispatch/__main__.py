"""Runs dispatch apart from the other services."""

from __future__ import annotations

import sys

from services.dispatch.build import build
from services.dispatch.settings import DispatchSettings
from services.runtime import parts

if __name__ == "__main__":
    sys.exit(parts.main("dispatch", DispatchSettings, build))
