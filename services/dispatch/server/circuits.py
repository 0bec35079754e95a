"""Which models are down at which provider, so that not every action finds it out anew.

After a few faults in a row a binding is only probed now and then, by one action at a time, and the
others go elsewhere if they can; the first answer ends that. The waits grow, but stay so short that
a provider is back in use well within half a minute of its recovery.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.dispatch.policy.step import RETRYABLE
from services.domain.vocab import FailureClass
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from services.dispatch.model.plan import BindingRef
    from services.runtime.clock import Clock

FAULTS_IN_A_ROW = 3
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 15.0
MAX_CIRCUITS = 4096

_OUTAGES = RETRYABLE - {FailureClass.RATE_LIMITED}
"""Faults of the provider; a throttle is a credential's."""

_log = get_logger("dispatch")


@dataclass(slots=True)
class _Circuit:
    faults: int = 0
    wait_s: float = 0.0
    """Between two probes; 0: it is closed."""
    next_probe_s: float = 0.0
    failure_class: FailureClass = FailureClass.UPSTREAM_STATUS


class Circuits:
    """Faults in a row, by model and provider; per process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._rows: OrderedDict[tuple[str, str], _Circuit] = OrderedDict()

    def outage(self, binding: BindingRef) -> FailureClass | None:
        """Return the fault that a binding is down with; None: it works, as far as is known."""
        row = self._rows.get(_key(binding))
        return row.failure_class if row is not None and row.wait_s else None

    def is_probe_due(self, binding: BindingRef) -> bool:
        """Return whether this caller may find out if a binding works again; the next one waits."""
        row = self._rows.get(_key(binding))
        now_s = self._clock.monotonic_s()
        if row is None or not row.wait_s:
            return True
        if now_s < row.next_probe_s:
            return False
        row.next_probe_s = now_s + row.wait_s
        return True

    def failed(self, binding: BindingRef, failure_class: FailureClass) -> None:
        """Take note of a fault; those that do not tell of an outage change nothing."""
        if failure_class not in _OUTAGES:
            return
        row = self._rows.setdefault(_key(binding), _Circuit())
        self._rows.move_to_end(_key(binding))
        row.faults += 1
        row.failure_class = failure_class
        if row.faults >= FAULTS_IN_A_ROW:
            if not row.wait_s:
                _log.warning(
                    "binding_down",
                    provider=binding.provider,
                    model=binding.model_id,
                    failure_class=failure_class.value,
                )
            row.wait_s = min(row.wait_s * 2 or FIRST_WAIT_S, LONGEST_WAIT_S)
            row.next_probe_s = self._clock.monotonic_s() + row.wait_s
        while len(self._rows) > MAX_CIRCUITS:
            self._rows.popitem(last=False)

    def answered(self, binding: BindingRef) -> None:
        """Take note that a binding answered, whatever it said."""
        row = self._rows.pop(_key(binding), None)
        if row is not None and row.wait_s:
            _log.info("binding_up", provider=binding.provider, model=binding.model_id)


def _key(binding: BindingRef) -> tuple[str, str]:
    return binding.provider, binding.model_id
