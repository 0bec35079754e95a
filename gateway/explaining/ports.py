"""What explaining needs from outside, and who hears of decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.decider import Decider
    from gateway.model import Action, AttemptFailed, AttemptStarted, Decision
    from gateway.model.explained import (
        AssumedPin,
        Completed,
        CredentialPreview,
        ShadowPick,
        Working,
    )


class Previews(Protocol):
    """Says which credential would be chosen, without choosing one."""

    async def preview(self, action: Action, decision: Decision) -> CredentialPreview | None:
        """Return the credential for a decision; None: credentials did not answer."""
        ...


class Recorder(Protocol):
    """Keeps what scorer and planner said of one action."""

    @property
    def working(self) -> Working:
        """What was said so far."""
        ...


class Rehearsal(Protocol):
    """A decider for one action, with what it leaves."""

    @property
    def decider(self) -> Decider:
        """Decides the action."""
        ...

    @property
    def recorder(self) -> Recorder:
        """Keeps what scorer and planner said."""
        ...


class Watchers(Protocol):
    """Hear what happens to actions; nothing waits for them."""

    def decided(self, action: Action, decision: Decision) -> None:
        """Hear of a decision."""
        ...

    def began(self, action: Action, started: AttemptStarted) -> None:
        """Hear that an attempt begins."""
        ...

    def missed(self, action: Action, failed: AttemptFailed) -> None:
        """Hear that an attempt failed, or was passed over."""
        ...

    def completed(self, action: Action, completed: Completed) -> None:
        """Hear of the end of an action that was decided or refused."""
        ...


class ShadowWatchers(Watchers, Protocol):
    """Hear of shadow decisions as well."""

    def shadowed(self, action: Action, pick: ShadowPick) -> None:
        """Hear what a shadow strategy would have picked."""
        ...


class Shadowing(Protocol):
    """Decides by another strategy; changes nothing."""

    async def pick(self, action: Action) -> ShadowPick | None:
        """Return what it would pick; None: nothing could serve, or it failed."""
        ...


RehearsalOf: TypeAlias = "Callable[[AssumedPin | None], Rehearsal]"
