"""A synthetic ledger of successful answers of one Claude account, and shorter random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from services.credentials.model import FIVE_HOURS, OVERAGE_INCLUDED, SEVEN_DAYS, UNIFIED_WINDOWS

START_UNIX_S = 1_750_000_000.0
RESPONSES = 7_788
FIVE_HOUR_WARNINGS = 25
OVERAGE_WARNINGS = 236
HANDOVERS = 12
"""Times that one window recovers while another one warns."""
LONGEST_HELD_S = 288.0
LONG_RUN_S = 3 * 3_600.0 + 43 * 60.0
LONG_RUN_WARNINGS = 200
ALLOWED, WARNING = "allowed", "allowed_warning"
_PREFIX = "anthropic-ratelimit-unified-"


@dataclass(frozen=True, slots=True)
class Answer:
    """Statuses of one successful answer; a window that is not there was not mentioned."""

    at_unix_s: float
    own: Mapping[str, str]
    aggregate: str
    credential_id: str = "c1"
    is_of_long_run: bool = False

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers as the upstream sends them; each window with its reset."""
        found = [(f"{_PREFIX}status", self.aggregate)] if self.aggregate else []
        for window, status in self.own.items():
            found.append((f"{_PREFIX}{window}-status", status))
            found.append((f"{_PREFIX}{window}-reset", f"{_reset(window, self.at_unix_s):.0f}"))
        return tuple(found)


def _reset(window: str, at_unix_s: float) -> float:
    """Return the end of the window that is open at an instant, at least 2 h away."""
    length_s = 5 * 3_600 if window == FIVE_HOURS else 7 * 86_400
    end = (at_unix_s // length_s + 1) * length_s
    return end if end - at_unix_s > 7_200 else end + length_s


def ledger(seed: int) -> tuple[Answer, ...]:
    """Return 7,788 answers: ``5h`` warns on 25 of them and ``7d_oi`` on 236, never both at once.

    One run of ``7d_oi`` lasts 3 h 43 min; 12 times ``5h`` recovers while ``7d_oi`` warns.
    """
    randomness = random.Random(seed)  # noqa: S311 - a reproducible world
    blocks = [_long_run(randomness)]
    warnings = _shares(randomness, FIVE_HOUR_WARNINGS, HANDOVERS)
    overages = _shares(randomness, OVERAGE_WARNINGS - LONG_RUN_WARNINGS, HANDOVERS)
    helds = [LONGEST_HELD_S] + [
        float(randomness.randint(20, int(LONGEST_HELD_S) - 1)) for _ in range(HANDOVERS - 1)
    ]
    shares = zip(warnings, overages, helds, strict=True)
    blocks.extend(_handover(randomness, *one) for one in shares)
    randomness.shuffle(blocks)
    calm = RESPONSES - sum(len(block) for block in blocks)
    pauses = _shares(randomness, calm, len(blocks) + 1)
    answers: list[Answer] = []
    now = START_UNIX_S
    for index, count in enumerate(pauses):
        for _ in range(count):
            now += randomness.randint(5, 120)
            answers.append(_answer(now))
        if index < len(blocks):
            begin = now + 60
            answers += [replace(one, at_unix_s=begin + one.at_unix_s) for one in blocks[index]]
            now = answers[-1].at_unix_s
    return tuple(answers)


def random_ledger(
    seed: int, count: int, credential_ids: tuple[str, ...], absence: float
) -> tuple[Answer, ...]:
    """Return answers of several accounts whose windows warn in runs; headers are often missing."""
    randomness = random.Random(seed)  # noqa: S311 - a reproducible world
    warned = {(name, window): False for name in credential_ids for window in UNIFIED_WINDOWS}
    now, answers = START_UNIX_S, []
    for _ in range(count):
        now += randomness.randint(1, 400)
        name = randomness.choice(credential_ids)
        for window in UNIFIED_WINDOWS:
            if randomness.random() < 0.15:
                warned[name, window] = not warned[name, window]
        own = {w: WARNING if warned[name, w] else ALLOWED for w in UNIFIED_WINDOWS}
        aggregate = WARNING if WARNING in own.values() else ALLOWED
        told = {w: status for w, status in own.items() if randomness.random() >= absence}
        answers.append(Answer(now, told, aggregate if randomness.random() >= absence else "", name))
    return tuple(answers)


def _answer(at_unix_s: float, warning: str = "", *, is_of_long_run: bool = False) -> Answer:
    own = {w: WARNING if w == warning else ALLOWED for w in (FIVE_HOURS, SEVEN_DAYS)}
    own[OVERAGE_INCLUDED] = WARNING if warning == OVERAGE_INCLUDED else ALLOWED
    aggregate = WARNING if warning else ALLOWED
    return Answer(at_unix_s, own, aggregate, is_of_long_run=is_of_long_run)


def _long_run(randomness: random.Random) -> list[Answer]:
    inner = sorted(randomness.uniform(1, LONG_RUN_S - 1) for _ in range(LONG_RUN_WARNINGS - 2))
    return [_answer(at, OVERAGE_INCLUDED, is_of_long_run=True) for at in (0.0, *inner, LONG_RUN_S)]


def _handover(
    randomness: random.Random, warnings: int, overages: int, held_s: float
) -> list[Answer]:
    """Return ``5h`` warning, then recovered while ``7d_oi`` warns, then all free."""
    at, answers = 0.0, []
    for _ in range(warnings):
        answers.append(_answer(at, FIVE_HOURS))
        at += randomness.randint(5, 60)
    later = sorted(randomness.uniform(0, held_s - 1) for _ in range(overages - 1))
    answers += [_answer(at + offset, OVERAGE_INCLUDED) for offset in (0.0, *later)]
    return [*answers, _answer(at + held_s)]


def _shares(randomness: random.Random, total: int, count: int) -> list[int]:
    """Return ``count`` whole numbers of at least 1 that add up to ``total``."""
    cuts = sorted(randomness.sample(range(1, total), count - 1))
    return [high - low for low, high in zip([0, *cuts], [*cuts, total], strict=True)]
