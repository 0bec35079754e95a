"""Serves CredentialsService: what it remembers between calls, and its gRPC face."""

from __future__ import annotations

from services.credentials.server.options import Options
from services.credentials.server.service import Service
from services.credentials.server.servicer import CredentialsServicer

__all__ = ["CredentialsServicer", "Options", "Service"]
