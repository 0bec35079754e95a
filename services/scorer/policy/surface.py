"""What a text looks like, whatever it means: 47 numbers that need no vocabulary."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import filterfalse

import numpy as np

from services.scorer.model.artifact import Floats
from services.scorer.policy.tally import tallied

COUNT = 47
"""Number of features."""

_WORD = re.compile(r"[^\W\d_]+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DECIMAL = re.compile(r"\d\.\d")
_OPTION = re.compile(r"^\s*\(?[A-J][.):]\s", re.MULTILINE)
_OPTION_MARK = re.compile(r"[A-J][.):]\s")
"""Is found sooner; without it there is no option."""
_STATEMENT = re.compile(r"statement \d", re.IGNORECASE)
_STATED = "tatement "
"""Is found sooner. Without the s: the pattern takes the long one for an s too."""
_SENTENCE = re.compile(r"[.!?](?:\s|$)")


def _words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CODE = _words_of(
    "def return import class function var const let elif else print assert lambda async await null "
    "none true false int str list dict void struct public static select from where"
)
QUESTION = _words_of("what which who whom whose when where why how")
"""First words of questions."""
REQUEST = _words_of(
    "write explain describe list give create make generate summarize translate compare find solve "
    "calculate compute prove show implement fix refactor add complete rewrite convert"
)
"""First words of requests."""
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
GROUPS = (
    _CODE,
    _NEGATION,
    _LOGIC,
    _QUANTITY,
    _UNIT,
    _FIRST_PERSON,
    _SECOND_PERSON,
    _ARTICLE,
)
"""Words whose shares are features, group by group."""
_GROUPS_OF: Mapping[str, tuple[int, ...]] = {
    word: tuple(place for place, group in enumerate(GROUPS) if word in group)
    for word in frozenset().union(*GROUPS)
}

_Kind = Callable[[str], bool]
_KINDS: tuple[_Kind, ...] = (str.isupper, str.isdigit, str.isspace, _MATH.__contains__)
"""Kinds of characters whose shares are features."""
_MARKS = ("?", ",", ":;", "(", "[{", "\"'", "`", "$", "%", "=", "\\")
"""Marks whose counts are features."""
_CLASSES: tuple[_Kind, ...] = (*_KINDS, *(marks.__contains__ for marks in _MARKS))
_IN_CLASS = np.array([[kind(chr(code)) for code in range(128)] for kind in _CLASSES], np.float64)
"""Which ASCII characters each class has: one product counts all of them."""
_WIDE = re.compile(r"[^\x00-\x7f]")


def _turning(kind: _Kind, into: Callable[[str], str], rest: str) -> bytes:
    """Return the table that turns ASCII characters of a kind into something, all else into rest."""
    characters = (chr(code) for code in range(128))
    return "".join(into(c) if kind(c) else rest for c in characters).ljust(256).encode()


_TO_CASES = _turning(str.isalpha, lambda c: "A" if c.isupper() else "a", " ")
_TO_NUMERALS = _turning("0123456789.,".__contains__, str, " ")
_TO_ENDS = _turning(lambda c: c in ".!?" or c.isspace(), lambda c: "." if c in ".!?" else " ", "x")
_DIGITS = _KINDS.index(str.isdigit)
_INDENTS = ("    ", "\t")
_INDENTED = tuple(f"\n{indent}" for indent in _INDENTS)
_SHORT_LINE = 20
_LONG = 9


@dataclass(frozen=True, slots=True)
class _Seen:
    """What reading a text once tells."""

    words: Mapping[str, int]
    """In small letters, with how often each comes."""
    word_count: int
    letters: int
    capitalised: int
    """Words that begin with a capital."""
    long_words: int
    sentences: int
    numbers: list[str]
    may_list_options: bool
    counts: list[float]
    """Characters of each class."""


def features(text: str, tally: Mapping[str, int] | None = None) -> Floats:
    """Return the features of ``text``, not standardised; an empty text has them too.

    ``tally`` is that of the text, where it is known already.
    """
    encoded = text.encode()
    if len(encoded) == len(text):
        seen = _seen(encoded, tallied(text) if tally is None else tally)
    else:
        seen = _seen_wide(text, encoded)
    return np.array(
        [
            *_sizes(text, len(encoded), seen),
            *_marks(text, len(encoded), seen.counts),
            *_shapes(text, seen),
            *_shares(seen),
        ],
        dtype=np.float64,
    )


def _seen(text: bytes, tally: Mapping[str, int]) -> _Seen:
    """Return what an ASCII text tells: tables turn it faster than patterns read it."""
    words = _without_digits(tally)
    cases, ends = text.translate(_TO_CASES), text.translate(_TO_ENDS)
    counts = _class_counts(text)
    numerals = b" ".join(text.translate(_TO_NUMERALS).split()).decode() if counts[_DIGITS] else ""
    return _Seen(
        words=words,
        word_count=sum(words.values()),
        letters=len(cases) - cases.count(b" "),
        capitalised=cases.count(b" A") + cases.startswith(b"A"),
        long_words=sum([times for word, times in words.items() if len(word) >= _LONG]),
        sentences=ends.count(b". ") + ends.endswith(b"."),
        numbers=_NUMBER.findall(numerals),
        may_list_options=b" A " in cases or cases.startswith(b"A "),
        counts=counts,
    )


def _without_digits(tally: Mapping[str, int]) -> dict[str, int]:
    words = dict(tally)
    for entry in filterfalse(str.isalpha, tally):
        times = words.pop(entry)
        if len(entry) > 1 and not entry.isdigit():
            for word in _WORD.findall(entry):
                words[word] = words.get(word, 0) + times
    return words


def _seen_wide(text: str, encoded: bytes) -> _Seen:
    """Return the same of any text."""
    words, wide = _WORD.findall(text), _WIDE.findall(text)
    counts = _class_counts(encoded)
    for place, kind in enumerate(_KINDS):
        counts[place] += sum(map(kind, wide))
    return _Seen(
        words=Counter(word.lower() for word in words),
        word_count=len(words),
        letters=sum(map(len, words)),
        capitalised=sum(word[0].isupper() for word in words),
        long_words=sum(len(word) >= _LONG for word in words),
        sentences=len(_SENTENCE.findall(text)),
        numbers=_NUMBER.findall(text) if counts[_DIGITS] else [],
        may_list_options=True,
        counts=counts,
    )


def _class_counts(encoded: bytes) -> list[float]:
    """Return how many ASCII characters of each class a text has."""
    codes = np.bincount(np.frombuffer(encoded, np.uint8), minlength=256)
    counts: list[float] = (_IN_CLASS @ codes[:128]).tolist()
    return counts


def _sizes(text: str, size_bytes: int, seen: _Seen) -> tuple[float, ...]:
    lengths = list(map(len, text.split("\n")))
    count, sentences = seen.word_count, seen.sentences
    return (
        math.log1p(size_bytes),
        math.log1p(count),
        math.log1p(len(lengths)),
        math.log1p(sentences),
        math.log1p(count / max(sentences, 1)),
        math.log1p(max(lengths)),
        len([length for length in lengths if length < _SHORT_LINE]) / len(lengths),
        seen.letters / max(count, 1),
    )


def _marks(text: str, size_bytes: int, counts: list[float]) -> tuple[float, ...]:
    size, kinds = max(len(text), 1), len(_KINDS)
    return (
        *(count / size for count in counts[:kinds]),
        (size_bytes - len(text)) / size,
        *map(math.log1p, counts[kinds:]),
        math.log1p(text.count("\n\n")),
    )


def _shapes(text: str, seen: _Seen) -> tuple[float, ...]:
    numbers = seen.numbers
    largest = max((len(number.split(".")[0].replace(",", "")) for number in numbers), default=0)
    decimals = sum(len(_DECIMAL.findall(number)) for number in numbers if "." in number)
    may_list = seen.may_list_options and _OPTION_MARK.search(text)
    options = len(_OPTION.findall(text)) if may_list else 0
    indented = text.startswith(_INDENTS) + sum(map(text.count, _INDENTED))
    is_statement = bool(numbers) and _STATED in text.lower() and bool(_STATEMENT.search(text))
    first, end = _WORD.search(text), text.rstrip()[-1:]
    first_word = first[0].lower() if first is not None else ""
    return (
        math.log1p(len(numbers)),
        math.log1p(decimals),
        float(largest),
        math.log1p(options),
        float(end == ":"),
        float(is_statement),
        float("__" in text),
        math.log1p(indented),
        float(first_word in QUESTION),
        float(first_word in REQUEST),
        float(end == "?"),
    )


def _shares(seen: _Seen) -> tuple[float, ...]:
    total = max(seen.word_count, 1)
    grouped = [0] * len(GROUPS)
    for word in seen.words.keys() & _GROUPS_OF.keys():
        for place in _GROUPS_OF[word]:
            grouped[place] += seen.words[word]
    return (
        *(count / total for count in grouped),
        seen.capitalised / total,
        len(seen.words) / total,
        seen.long_words / total,
    )
