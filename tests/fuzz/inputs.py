"""Nearly valid inputs of every reader: bodies and streams that are spoiled in a few places."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.vocab import WireFamily
from tests.fuzz.jsontree import any_tree, copied, grown, spoil, words_of, written
from tests.fuzz.seeds import anthropic, gemini, openai_chat, openai_responses

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tests.fuzz.choices import Choices
    from tests.fuzz.jsontree import Tree
    from tests.fuzz.seeds import Seeds

SEEDS: Mapping[WireFamily, Seeds] = {
    WireFamily.ANTHROPIC: anthropic.SEEDS,
    WireFamily.OPENAI_CHAT: openai_chat.SEEDS,
    WireFamily.OPENAI_RESPONSES: openai_responses.SEEDS,
    WireFamily.GEMINI: gemini.SEEDS,
}


class Kind(enum.StrEnum):
    """What an input is read as."""

    REQUEST = "request"
    ANSWER = "answer"
    STREAM = "stream"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Target:
    """One reader under test."""

    kind: Kind
    family: WireFamily

    @property
    def name(self) -> str:
        """The name in reports and files, such as ``request.gemini``."""
        return f"{self.kind}.{self.family.value}"


TARGETS = tuple(Target(kind, family) for kind in Kind for family in WireFamily)
"""All readers: four dialects, four kinds of input."""

_Frame = tuple[str, "Tree"]


class _Family:
    """The seeds of one dialect as trees, and its words."""

    def __init__(self, seeds: Seeds) -> None:
        self.bodies: Mapping[Kind, Sequence[Tree]] = {
            Kind.REQUEST: [grown(body) for body in seeds.requests],
            Kind.ANSWER: [grown(body) for body in seeds.answers],
            Kind.ERROR: [grown(body) for body in seeds.errors],
        }
        self.streams: Sequence[Sequence[_Frame]] = [
            [(name, grown(data)) for name, data in stream] for stream in seeds.streams
        ]
        self.words = words_of(seeds)


_FAMILIES = {family: _Family(seeds) for family, seeds in SEEDS.items()}


def make_input(target: Target, choices: Choices) -> bytes:
    """Return an input for ``target``; equal choices make equal inputs."""
    family = _FAMILIES[target.family]
    if target.kind is Kind.STREAM:
        data = _stream(family, choices)
    else:
        data = _body(family, target.kind, choices).encode("utf-8", "surrogatepass")
    return _DAMAGES[choices.below(len(_DAMAGES))](data, choices)


def _body(family: _Family, kind: Kind, choices: Choices) -> str:
    if choices.below(8) == 7:
        return written(any_tree(choices, family.words))
    tree = copied(choices.one_of(family.bodies[kind]))
    for _ in range(choices.below(5)):
        spoil(tree, choices, family.words)
    return written(tree)


def _stream(family: _Family, choices: Choices) -> bytes:
    frames = [(name, copied(data)) for name, data in choices.one_of(family.streams)]
    for _ in range(choices.below(6)):
        if frames:
            _spoil_frames(frames, family, choices)
    end = choices.one_of(("\n", "\n", "\n", "\r\n", "\r"))
    done = choices.one_of(("", f"data: [DONE]{end}{end}"))
    return ("".join([_told(frame, end) for frame in frames]) + done).encode()


def _spoil_frames(frames: list[_Frame], family: _Family, choices: Choices) -> None:
    at = choices.below(len(frames))
    match choices.below(9):
        case 0:
            del frames[at]
        case 1:
            name, data = frames[at]
            frames.insert(choices.below(len(frames)), (name, copied(data)))
        case 2:
            frames.append(frames.pop(at))
        case 3:
            frames[at] = (choices.one_of(("", "error", "ping")), frames[at][1])
        case 4:
            frames[at] = (frames[at][0], any_tree(choices, family.words))
        case _:
            spoil(frames[at][1], choices, family.words)


def _told(frame: _Frame, end: str) -> str:
    name, data = frame
    return (f"event: {name}{end}" if name else "") + f"data: {written(data)}{end}{end}"


def _whole(data: bytes, _: Choices) -> bytes:
    return data


def _cut(data: bytes, choices: Choices) -> bytes:
    return data[: choices.below(len(data) + 1)]


def _odd_bytes(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data) + 1)
    odd = (
        b"\xff",
        b"\xc3",
        b"\xf0\x9f",
        b'"',
        b"{",
        b"\\",
        b"\\u",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\n",
    )
    return data[:at] + choices.one_of(odd) + data[at + choices.below(2) :]


def _without_some(data: bytes, choices: Choices) -> bytes:
    at = choices.below(len(data) + 1)
    return data[:at] + data[at + choices.below(40) :]


def _in_utf_16(data: bytes, _: Choices) -> bytes:
    return data.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")


_DAMAGES: Sequence[Callable[[bytes, Choices], bytes]] = (
    *[_whole] * 9,
    _cut,
    _odd_bytes,
    _without_some,
    _in_utf_16,
)
"""What happens to the bytes of an input; most stay whole."""
