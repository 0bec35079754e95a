"""Runs the whole product in one process: ``python -m services.embedded``."""

from __future__ import annotations

import sys

from services.embedded.host import main

sys.exit(main())
