"""Draws schedules of faults: who fails how, in which order, and who asks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from services.domain.vocab import WireFamily
from tests.fakes.upstream import Fault

PLACES = ("x", "y", "z")
"""The first binding, the second one, and the model that may stand in."""
LANES = 12
"""Models of each kind: what one schedule teaches the router must not decide all others."""
LONG_S = 3.0
"""Longer than any silence that the router puts up with here."""
MOST_WORDS = 8

STATUSES = (400, 401, 402, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529)
OFTEN = (400, 404, 429, 500, 503, 529)
"""Drawn as often again: what refuses a key for good would soon leave nobody to ask."""
STREAM_ERRORS = ("overloaded_error", "api_error", "rate_limit_error", "invalid_request_error")
MESSAGES = (
    "try again",
    "prompt is too long",
    "invalid tool schema",
    "this model does not support image input",
    "unknown field `seed`",
    "flagged for possible cybersecurity risk",
)


@dataclass(frozen=True, slots=True)
class Schedule:
    """One request of a client, and what its providers do."""

    number: int
    client: WireFamily
    upstream: WireFamily
    lane: int
    is_stream: bool
    faults: Mapping[str, tuple[Fault, ...]] = field(default_factory=dict)
    """What each place answers, request by request; the last one again and again."""
    leaves_after_bytes: int | None = None
    """When the client hangs up; None: it reads to the end."""

    @property
    def is_healthy(self) -> bool:
        """Whether nothing but good answers is drawn."""
        return all(len(each) == 1 for each in self.faults.values())


def schedule(seed: int, number: int) -> Schedule:
    """Return the schedule of that number, the same on every machine."""
    rng = random.Random(f"{seed}/{number}")
    counts = {"x": rng.choice((0, 1, 1, 2, 3)), "y": rng.choice((0, 0, 1, 2)), "z": 0}
    counts["z"] = rng.choice((0, 0, 1))
    return Schedule(
        number=number,
        client=rng.choice(tuple(WireFamily)),
        upstream=rng.choice(tuple(WireFamily)),
        lane=rng.randrange(LANES),
        is_stream=rng.random() < 0.75,
        faults={place: _faults(rng, place, counts[place]) for place in PLACES},
        leaves_after_bytes=rng.randrange(2000) if rng.random() < 0.06 else None,
    )


def _faults(rng: random.Random, place: str, count: int) -> tuple[Fault, ...]:
    """Return ``count`` faults, each with a word of its own, and a good answer after them."""
    drawn = [_fault(rng) for _ in range(count)]
    good = Fault(chunks=rng.randint(1, MOST_WORDS), split=rng.choice((0, 0, 0, 7)))
    return tuple(replace(fault, word=f"{place}{turn}") for turn, fault in enumerate((*drawn, good)))


def _fault(rng: random.Random) -> Fault:
    make = rng.choice(_KINDS)
    fault = make(rng)
    if fault.chunks is None:
        fault = replace(fault, chunks=rng.randint(1, MOST_WORDS))
    return fault if rng.random() < 0.7 else replace(fault, split=rng.choice((1, 5, 17, 64)))


def _refusal(rng: random.Random) -> Fault:
    status = rng.choice(STATUSES + OFTEN)
    retry_after = rng.choice((None, None, 0, 0.05, 0.05, 30)) if status in (429, 503, 529) else None
    return Fault(status=status, message=rng.choice(MESSAGES), retry_after=retry_after)


def _late(rng: random.Random) -> Fault:
    return Fault(delay=LONG_S) if rng.random() < 0.5 else Fault(first_delay=LONG_S)


def _broken(rng: random.Random) -> Fault:
    after = rng.randint(0, MOST_WORDS + 4)
    ends: tuple[Fault, ...] = (
        Fault(cut_after=max(1, after)),
        Fault(end_after=after),
        Fault(stall_after=max(1, after), stall=LONG_S),
        Fault(error_after=after, error_type=rng.choice(STREAM_ERRORS)),
    )
    return rng.choice(ends)


def _odd(rng: random.Random) -> Fault:
    odd: tuple[Fault, ...] = (
        Fault(drop=True),
        Fault(error_first=True, error_type=rng.choice(STREAM_ERRORS)),
        Fault(bad_json=True),
        Fault(empty=True),
        Fault(body=b"", content_type="text/event-stream"),
        Fault(body=b"<html>busy</html>", content_type="text/html"),
        Fault(body=b": hello\n\n" * 3, content_type="text/event-stream"),
        Fault(status=302, headers={"Location": "/elsewhere"}, body=b""),
        Fault(status=503, body=b"\xff\xfe not text"),
        Fault(oversize=200_000),
        Fault(chunks=3, chunk_delay=0.1),
        Fault(omit_usage=True),
    )
    return rng.choice(odd)


_KINDS: tuple[Callable[[random.Random], Fault], ...] = (
    _refusal,
    _refusal,
    _broken,
    _broken,
    _broken,
    _late,
    _odd,
    _odd,
)
