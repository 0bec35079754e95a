"""The words of a text, each with how often it comes: counted once for all that read them."""

from __future__ import annotations

import itertools
import re
import string
from collections import Counter

_CHUNK = re.compile(r"[^ \t\n\r]+")
_MARKS = tuple((mark, f" {mark} ") for mark in string.punctuation)
"""Punctuation marks, and how they stand by themselves."""


def tallied(text: str) -> Counter[str]:
    """Return what a text consists of, what comes first before what comes later.

    Plain text is words in small letters, with their digits, and punctuation marks. Runs of chunks
    between blanks that have other characters than ASCII stay as they are.
    """
    if text.isascii():
        return Counter(_words(text))
    runs = itertools.groupby(_CHUNK.findall(text), str.isascii)
    joined = ((is_plain, " ".join(chunks)) for is_plain, chunks in runs)
    return Counter(
        word for is_plain, run in joined for word in (_words(run) if is_plain else (run,))
    )


def _words(text: str) -> list[str]:
    text = text.lower()
    for mark, apart in _MARKS:
        if mark in text:
            text = text.replace(mark, apart)
    return text.split()
