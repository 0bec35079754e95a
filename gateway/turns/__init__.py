"""Who asks and what kind of action it is, read from one request. Pure."""

from __future__ import annotations

from gateway.turns.classify import turn_type_of
from gateway.turns.client import Client, client_of, identifier

__all__ = ["Client", "client_of", "identifier", "turn_type_of"]
