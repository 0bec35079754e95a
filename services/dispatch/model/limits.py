"""How long an upstream may be silent, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """Limits on one stream."""

    idle_s: float = 45.0
    """Without any byte."""
    first_output_s: float = 90.0
    """From the headers to the first output."""
    stall_s: float = 240.0
    """Without output, after the first."""
    hold_s: float = 20.0
    """Longest time that bookkeeping alone is held back; 0: not at all."""
    linger_s: float = 5.0
    """Without any byte after the dialect's end marker."""
