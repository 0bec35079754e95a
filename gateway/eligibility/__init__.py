"""What may serve one action, and why nothing else may. Pure."""

from __future__ import annotations

from gateway.eligibility.freezing import freeze
from gateway.eligibility.model import Policy, Question

__all__ = ["Policy", "Question", "freeze"]
