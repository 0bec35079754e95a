"""How long an upstream may be silent, in seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """What a stream has to keep up. Times in seconds of waiting."""

    window_s: float = 20.0
    warm_up_s: float = 90.0
    """Nothing is judged before."""
    floor: int = 8
    """Fewest output events of a window; 0 or less: any pace will do."""


ANY_PACE = Pace(floor=0)


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
    pace: Pace = ANY_PACE
    """What a stream with output has to keep up."""
