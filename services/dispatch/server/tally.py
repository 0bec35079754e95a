"""What one walk has used up: attempts, retries, waits and time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.dispatch.policy.step import Spent

if TYPE_CHECKING:
    from services.dispatch.policy.step import Step
    from services.dispatch.server.itinerary import Stop
    from services.runtime.clock import Clock


class Tally:
    """Counts of one walk; mutable, owned by it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began_s = self._binding_began_s = clock.monotonic_s()
        self._retries = 0
        self._waited_at: set[Stop] = set()
        self._throttle_waits = 0
        self.attempts = 0
        """Sent ones; rotations are not among them."""

    def elapsed_s(self) -> float:
        """Return the seconds since the walk began."""
        return self._clock.monotonic_s() - self._began_s

    def spent(self, here: Stop) -> Spent:
        """Return what is used up, as of now and at this stop."""
        now_s = self._clock.monotonic_s()
        return Spent(
            attempts=self.attempts,
            retries=self._retries,
            binding_s=now_s - self._binding_began_s,
            walk_s=now_s - self._began_s,
            has_waited_here=here in self._waited_at,
            throttle_waits=self._throttle_waits,
        )

    def retry(self, here: Stop, step: Step) -> None:
        """Count a retry in place."""
        if step.is_throttle_wait:
            self._waited_at.add(here)
            self._throttle_waits += 1
        else:
            self._retries += 1

    def enter_binding(self) -> None:
        """Begin with another binding."""
        self._retries = 0
        self._binding_began_s = self._clock.monotonic_s()
