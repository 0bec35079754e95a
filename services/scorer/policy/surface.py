"""What a text looks like, whatever it means: 47 numbers that need no vocabulary."""

from __future__ import annotations

import math
import re

import numpy as np

from services.scorer.model.artifact import Floats

COUNT = 47
"""Number of features."""

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DECIMAL = re.compile(r"\d\.\d")
_OPTION = re.compile(r"^\s*\(?[A-J][.):]\s", re.MULTILINE)
_STATEMENT = re.compile(r"statement \d", re.IGNORECASE)
_BLANK = re.compile(r"_{2,}")
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


def features(text: str) -> Floats:
    """Return the features of ``text``, not standardised; an empty text has them too."""
    words = _WORD.findall(text)
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
        sum(map(str.isupper, text)) / size,
        sum(map(str.isdigit, text)) / size,
        sum(map(str.isspace, text)) / size,
        sum(map(_MATH.__contains__, text)) / size,
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
        float(bool(_BLANK.search(text))),
        math.log1p(len(_INDENTED.findall(text))),
        float(bool(lowered) and lowered[0] in _QUESTION),
        float(bool(lowered) and lowered[0] in _REQUEST),
        float(text.rstrip().endswith("?")),
    )


def _words(words: list[str], lowered: list[str]) -> tuple[float, ...]:
    total = max(len(words), 1)

    def share(group: frozenset[str]) -> float:
        return sum(map(group.__contains__, lowered)) / total

    return (
        share(_CODE),
        share(_NEGATION),
        share(_LOGIC),
        share(_QUANTITY),
        share(_UNIT),
        share(_FIRST_PERSON),
        share(_SECOND_PERSON),
        share(_ARTICLE),
        sum(word[0].isupper() for word in words) / total,
        len(set(lowered)) / total,
        sum(len(word) >= 9 for word in words) / total,
    )
