"""Runs the credentials service apart: ``python -m services.credentials``."""

from __future__ import annotations

import sys

from services.credentials.build import build
from services.credentials.settings import CredentialsSettings
from services.runtime import parts

if __name__ == "__main__":
    sys.exit(parts.main("credentials", CredentialsSettings, build))
