"""What a text looks like, whatever it means: 47 numbers that need no vocabulary."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

import numpy as np

from services.scorer.model.artifact import Floats

COUNT = 47
"""Number of features."""

_WORD = re.compile(r"[^\W\d_]+")
_PLAIN_WORD = re.compile(r"[A-Za-z]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DECIMAL = re.compile(r"\d\.\d")
_OPTION = re.compile(r"^\s*\(?[A-J][.):]\s", re.MULTILINE)
_STATEMENT = re.compile(r"statement \d", re.IGNORECASE)
_INDENTED = re.compile(r"^(?: {4}|\t)", re.MULTILINE)
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CODE = _words_of(
    "def return import class function var const let elif else print assert lambda async await null "
    "none true false int str list dict void struct public static select from where"
)
_QUESTION = _words_of("what which who whom whose when where why how")
_REQUEST = _words_of(
    "write explain describe list give create make generate summarize translate compare find solve "
    "calculate compute prove show implement fix refactor add complete rewrite convert"
)
_NEGATION = _words_of("not no never none nor except without least cannot neither false")
_LOGIC = _words_of("if then therefore because since implies thus hence suppose let given all")
_QUANTITY = _words_of(
    "more less fewer than times each every per total half twice double average sum difference "
    "remaining left many much altogether"
)
_UNIT = _words_of(
    "dollar dollars cent cents hour hours minute minutes day days week weeks month months year "
    "years mile miles km meter meters feet inch inches pound pounds kg percent degrees"
)
_FIRST_PERSON = _words_of("i my me we our us mine")
_SECOND_PERSON = _words_of("you your yours")
_ARTICLE = _words_of("the a an of in to and is are was were for on with as by")
_MATH = frozenset("+-*/=<>^∑√∫≤≥≠×÷±∞π∈∀∃")
_GROUPS = (
    _CODE,
    _NEGATION,
    _LOGIC,
    _QUANTITY,
    _UNIT,
    _FIRST_PERSON,
    _SECOND_PERSON,
    _ARTICLE,
)
_GROUPED = frozenset().union(*_GROUPS)

_Kind = Callable[[str], bool]
_KINDS: tuple[_Kind, ...] = (str.isupper, str.isdigit, str.isspace, _MATH.__contains__)
"""Kinds of characters whose shares are features."""
_NARROW = tuple(bytes(code for code in range(128) if kind(chr(code))) for kind in _KINDS)
"""The ASCII characters of each kind: bytes are counted many times faster than characters."""
_WIDE = re.compile(r"[^\x00-\x7f]")


def features(text: str) -> Floats:
    """Return the features of ``text``, not standardised; an empty text has them too."""
    words = (_PLAIN_WORD if text.isascii() else _WORD).findall(text)
    lowered = [word.lower() for word in words]
    return np.array(
        [*_sizes(text, words), *_marks(text), *_shapes(text, lowered), *_words(words, lowered)],
        dtype=np.float64,
    )


def _sizes(text: str, words: list[str]) -> tuple[float, ...]:
    lines = text.split("\n")
    lengths = [len(line) for line in lines]
    sentences = len(_SENTENCE.findall(text))
    return (
        math.log1p(len(text.encode())),
        math.log1p(len(words)),
        math.log1p(len(lines)),
        math.log1p(sentences),
        math.log1p(len(words) / max(sentences, 1)),
        math.log1p(max(lengths)),
        sum(length < 20 for length in lengths) / len(lines),
        sum(map(len, words)) / max(len(words), 1),
    )


def _marks(text: str) -> tuple[float, ...]:
    size = max(len(text), 1)
    count = text.count
    return (
        *(count / size for count in _kinds(text)),
        (len(text.encode()) - len(text)) / size,
        math.log1p(count("?")),
        math.log1p(count(",")),
        math.log1p(count(":") + count(";")),
        math.log1p(count("(")),
        math.log1p(count("[") + count("{")),
        math.log1p(count('"') + count("'")),
        math.log1p(count("`")),
        math.log1p(count("$")),
        math.log1p(count("%")),
        math.log1p(count("=")),
        math.log1p(count("\\")),
        math.log1p(count("\n\n")),
    )


def _kinds(text: str) -> tuple[int, ...]:
    """Return how many characters of each kind a text has."""
    narrow = text.encode("ascii", "ignore")
    counts = [len(narrow) - len(narrow.translate(None, kind)) for kind in _NARROW]
    if len(narrow) < len(text):
        wide = _WIDE.findall(text)
        counts = [count + sum(map(kind, wide)) for count, kind in zip(counts, _KINDS, strict=True)]
    return tuple(counts)


def _shapes(text: str, lowered: list[str]) -> tuple[float, ...]:
    numbers = _NUMBER.findall(text)
    largest = max((len(number.split(".")[0].replace(",", "")) for number in numbers), default=0)
    return (
        math.log1p(len(numbers)),
        math.log1p(len(_DECIMAL.findall(text))),
        float(largest),
        math.log1p(len(_OPTION.findall(text))),
        float(text.rstrip().endswith(":")),
        float(bool(_STATEMENT.search(text))),
        float("__" in text),
        math.log1p(len(_INDENTED.findall(text))),
        float(bool(lowered) and lowered[0] in _QUESTION),
        float(bool(lowered) and lowered[0] in _REQUEST),
        float(text.rstrip().endswith("?")),
    )


def _words(words: list[str], lowered: list[str]) -> tuple[float, ...]:
    total = max(len(words), 1)
    counts = Counter(lowered)
    known = counts.keys() & _GROUPED
    return (
        *(sum(counts[word] for word in known & group) / total for group in _GROUPS),
        sum(word[0].isupper() for word in words) / total,
        len(counts) / total,
        sum(len(word) >= 9 for word in words) / total,
    )
