"""Commands that a person writes into a conversation: read, taken out of bodies, and obeyed."""

from __future__ import annotations

from gateway.commands.model import Command, CommandKind, CommandScope
from gateway.commands.stripping import has_commands, stripped

__all__ = ["Command", "CommandKind", "CommandScope", "has_commands", "stripped"]
