"""Replays a ledger under a rule and measures what its marks do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from services.cli.simulate_credentials.ledger import ALLOWED, WARNING, Answer
from services.credentials.model import (
    FIVE_HOURS,
    UNIFIED_WINDOWS,
    Cause,
    Credential,
    CredentialSpec,
    MarkKind,
    Origin,
    Phase,
    Report,
)
from services.credentials.policy.evidence import Rules, Seen, observe
from services.domain.vocab import CredentialKind, WireFamily

PROVIDER = "anthropic"
RULES = Rules(families={PROVIDER: WireFamily.ANTHROPIC})

Rule: TypeAlias = Callable[[Answer], Answer]
"""What a rule reads of an answer."""


def shipped(answer: Answer) -> Answer:
    """Return everything: the rule of the service."""
    return answer


def naive(answer: Answer) -> Answer:
    """Return an answer whose windows' own ``allowed`` are not heard."""
    return replace(answer, own={w: s for w, s in answer.own.items() if s != ALLOWED})


def five_hours_alone(answer: Answer) -> Answer:
    """Return what the window ``5h`` says, and nothing else."""
    own = {w: s for w, s in answer.own.items() if w == FIVE_HOURS}
    return replace(answer, own=own, aggregate="")


def aggregate_alone(answer: Answer) -> Answer:
    """Return the aggregate, which names no window."""
    return replace(answer, own={})


EVERY_RULE: Mapping[str, Rule] = {
    "shipped": shipped,
    "own_allowed_unheard": naive,
    "5h_alone": five_hours_alone,
    "aggregate_alone": aggregate_alone,
}


@dataclass(slots=True)
class Outcome:
    """What a rule's marks did over a ledger."""

    set_by_window: Counter[str] = field(default_factory=Counter)
    cleared_by: Counter[Cause] = field(default_factory=Counter)
    held_s: list[float] = field(default_factory=list)
    """Lengths of the times that a mark stood on after its window's own ``allowed``."""
    unfounded: int = 0
    """Marks set without a window's own ``allowed_warning``."""
    overdue: int = 0
    """Marks that counted at or after their end."""
    active: list[tuple[float, int]] = field(default_factory=list)
    """How many marks stood after each answer."""


def account(name: str) -> Credential:
    """Return an account without marks."""
    spec = CredentialSpec(PROVIDER, CredentialKind.CLAUDE_OAUTH)
    return Credential(name, spec, Origin.STORED, fingerprint=name)


def replay(answers: Iterable[Answer], rule: Rule) -> Outcome:
    """Return what the marks of a rule do when answers come in order."""
    outcome = Outcome()
    accounts: dict[str, Credential] = {}
    seen: dict[str, Seen] = {}
    held: dict[tuple[str, str], float] = {}
    for number, answer in enumerate(answers):
        name = answer.credential_id
        before = accounts.get(name) or account(name)
        report = _report(rule(answer), number)
        step = observe(before, report, seen.get(name, {}), RULES, answer.at_unix_s)
        accounts[name], seen[name] = step.credential, step.seen
        for one in step.transitions:
            if one.is_cleared:
                outcome.cleared_by[one.cause] += 1
            elif not one.is_moved:
                outcome.set_by_window[one.mark.window] += 1
                outcome.unfounded += answer.own.get(one.mark.window) != WARNING
        _measure(outcome, held, answer, step.credential)
    return outcome


def _measure(
    outcome: Outcome,
    held: dict[tuple[str, str], float],
    answer: Answer,
    credential: Credential,
) -> None:
    now = answer.at_unix_s
    marks = [m for m in credential.active_marks(now) if m.kind is MarkKind.WARNING]
    outcome.overdue += sum(m.expire_unix_s is not None and m.expire_unix_s <= now for m in marks)
    outcome.active.append((now, len(marks)))
    standing = {mark.window for mark in marks}
    for window in UNIFIED_WINDOWS:
        key, own = (answer.credential_id, window), answer.own.get(window)
        if window not in standing or own == WARNING:
            begun = held.pop(key, None)
            if begun is not None:
                outcome.held_s.append(now - begun)
        elif own == ALLOWED:
            held.setdefault(key, now)


def _report(answer: Answer, number: int) -> Report:
    now = answer.at_unix_s
    return Report(
        f"g{number}",
        f"a{number}",
        1,
        1,
        Phase.HEADERS,
        credential_id=answer.credential_id,
        model_id="m",
        http_status=200,
        headers=answer.headers,
        send_unix_s=now,
        observe_unix_s=now,
        credential_version=1,
    )
