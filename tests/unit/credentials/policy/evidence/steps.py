"""Reports in a row against one credential, as the tests of evidence write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from services.credentials.model import Credential, Mark, MarkKind, Report, Transition
from services.credentials.policy.evidence import Rules, Seen, observe, swept
from services.credentials.policy.evidence.rules import Doubt
from services.domain.vocab import CredentialKind
from tests.unit.credentials.cases import NOW, RULES, credential, report

Headers = tuple[tuple[str, str], ...]
UNIFIED = "anthropic-ratelimit-unified-"
HOUR = 3_600.0
DAY = 86_400.0


def claude(name: str = "c1", **spec: object) -> Credential:
    """Return the credential of a Claude account."""
    return _account(name, CredentialKind.CLAUDE_OAUTH, spec)


def codex(**spec: object) -> Credential:
    """Return the credential of a Codex account."""
    return _account("c1", CredentialKind.CODEX_OAUTH, spec)


def _account(name: str, kind: CredentialKind, settings: Mapping[str, object]) -> Credential:
    made = credential(name)
    spec = replace(made.spec, kind=kind, **settings)  # type: ignore[arg-type]  # tests name any field
    return replace(made, spec=spec)


def unified(
    aggregate: str = "", *, w5h: str = "", w7d: str = "", oi: str = "", **more: str
) -> tuple[tuple[str, str], ...]:
    """Return unified headers: statuses by window, further ones by the end of their name."""
    statuses = {"status": aggregate, "5h-status": w5h, "7d-status": w7d, "7d_oi-status": oi}
    named = {name.removeprefix("w").replace("__", "-"): value for name, value in more.items()}
    return tuple(
        (UNIFIED + name.replace("_reset", "-reset").replace("claim", "representative-claim"), value)
        for name, value in {**statuses, **named}.items()
        if value
    )


def at(seconds: float, status: int | None = 200, **more: object) -> Report:
    """Return a report of headers that came, and was sent, so many seconds from now."""
    sent = more.pop("sent", seconds)
    assert isinstance(sent, float | int)
    return report(status, observe_unix_s=NOW + seconds, send_unix_s=NOW + sent, **more)


@dataclass
class Story:
    """One credential and what happens to it."""

    credential: Credential
    rules: Rules = RULES
    seen: Seen = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    writes: int = 0

    def see(self, one: Report, now: float | None = None) -> Story:
        """Apply a report when it came, or later."""
        seconds = one.observe_unix_s if now is None else NOW + now
        step = observe(self.credential, one, self.seen, self.rules, seconds)
        self.writes += step.credential != self.credential
        assert (step.credential is self.credential) == (step.credential == self.credential)
        self.credential, self.seen = step.credential, step.seen
        self.transitions += step.transitions
        self.doubts += step.doubts
        return self

    def hear(
        self, seconds: float, headers: tuple[tuple[str, str], ...], status: int = 200
    ) -> Story:
        """Apply headers that came so many seconds from now."""
        return self.see(at(seconds, status, headers=headers))

    def sweep(self, seconds: float) -> Story:
        """Note what has lapsed."""
        step = swept(self.credential, NOW + seconds)
        self.writes += step.credential != self.credential
        self.credential = step.credential
        self.transitions += step.transitions
        return self

    def rotate(self) -> Story:
        """Give the credential a new secret's version."""
        version = self.credential.credential_version + 1
        self.credential = replace(self.credential, credential_version=version)
        return self

    def marks(self, seconds: float, kind: MarkKind | None = None) -> dict[str, float | None]:
        """Return the marks that count, by window, model or family, and their seconds from now."""
        return {
            mark.window + mark.model_id + (f"/{mark.family}" if mark.family else ""): _end(mark)
            for mark in self.credential.active_marks(NOW + seconds)
            if kind in (None, mark.kind)
        }

    def warned(self, seconds: float) -> set[str]:
        """Return the windows with an early warning."""
        return set(self.marks(seconds, MarkKind.WARNING))

    def longest(self, seconds: float) -> float:
        """Return the seconds from now at which the last quota block ends; 0: there is none."""
        return max((end or 0.0 for end in self.blocks(seconds).values()), default=0.0)

    def blocks(self, seconds: float) -> dict[str, float | None]:
        """Return the quota blocks."""
        return self.marks(seconds, MarkKind.QUOTA)

    @property
    def lines(self) -> list[tuple[bool, str, str]]:
        """What is logged: whether it was cleared, the window and the cause."""
        return [
            (one.is_cleared, one.mark.window, one.cause.value)
            for one in self.transitions
            if not one.is_moved
        ]


def _end(mark: Mark) -> float | None:
    return None if mark.expire_unix_s is None else round(mark.expire_unix_s - NOW, 6)
