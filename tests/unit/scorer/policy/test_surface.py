"""The features of a text are what their plain definitions say, however they are computed."""

from __future__ import annotations

import math
import re
from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from services.scorer.policy import surface

MARKS = st.sampled_from("aZ 9.,:;?!-=(['\"`$%\\_\t\r\n\x0b\x1c")
WORDS = st.sampled_from(
    ["what", "Write", "if", "not", "cents", "my", "THE", "def", "sentence", "sentences"]
)
SHAPES = st.sampled_from(
    ["\n\n", "\n    ", "\n\t", "    ", "__", "A. ", "(B) ", "C:\n", "K. ", ". ", "1.5", "1,000.25"]
)
STATEMENTS = st.sampled_from(["statement 1", "STATEMENT 2", "statement x", "ſtatement 3"])
WIDE = st.sampled_from([*"Éß²İı\u00a0\u2028٣Ⅷ∑日Ｋ"])
PLAIN_PARTS = MARKS | WORDS | SHAPES
PARTS = PLAIN_PARTS | STATEMENTS | WIDE
TEXTS = (
    st.lists(PLAIN_PARTS).map("".join)
    | st.lists(PARTS).map("".join)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.text(st.characters(max_codepoint=127))
)


@given(TEXTS)
@example("")
@example("Statement 1 | 2.5.7 of 1,250 cents?\n  (A) none\n\n    B. all\n")
def test_features_are_what_their_definitions_say(text: str) -> None:
    assert surface.features(text).tolist() == plainly(text)


def plainly(text: str) -> list[float]:
    """Return the features of a text by their definitions, one character or word at a time."""
    words = re.findall(r"[^\W\d_]+", text)
    small = [word.lower() for word in words]
    lines = text.split("\n")
    sentences = len(re.findall(r"[.!?](?:\s|$)", text))
    size, total = max(len(text), 1), max(len(words), 1)
    kinds = (str.isupper, str.isdigit, str.isspace, "+-*/=<>^∑√∫≤≥≠×÷±∞π∈∀∃".__contains__)
    marks = ("?", ",", ":;", "(", "[{", "\"'", "`", "$", "%", "=", "\\")
    numbers = re.findall(r"\d+(?:[.,]\d+)*", text)
    digits = [number.split(".")[0].replace(",", "") for number in numbers]
    return [
        math.log1p(len(text.encode())),
        math.log1p(len(words)),
        math.log1p(len(lines)),
        math.log1p(sentences),
        math.log1p(len(words) / max(sentences, 1)),
        math.log1p(max(map(len, lines))),
        sum(len(line) < 20 for line in lines) / len(lines),
        sum(map(len, words)) / total,
        *(sum(map(kind, text)) / size for kind in kinds),
        (len(text.encode()) - len(text)) / size,
        *(math.log1p(sum(text.count(mark) for mark in group)) for group in marks),
        math.log1p(text.count("\n\n")),
        math.log1p(len(numbers)),
        math.log1p(len(re.findall(r"\d\.\d", text))),
        float(max(map(len, digits), default=0)),
        math.log1p(len(re.findall(r"(?m)^\s*\(?[A-J][.):]\s", text))),
        float(text.rstrip().endswith(":")),
        float(bool(re.search(r"(?i)statement \d", text))),
        float("__" in text),
        math.log1p(len(re.findall(r"(?m)^(?: {4}|\t)", text))),
        float(bool(small) and small[0] in surface.QUESTION),
        float(bool(small) and small[0] in surface.REQUEST),
        float(text.rstrip().endswith("?")),
        *(sum(Counter(small)[word] for word in group) / total for group in surface.GROUPS),
        sum(word[0].isupper() for word in words) / total,
        len(set(small)) / total,
        sum(len(word) >= 9 for word in words) / total,
    ]
