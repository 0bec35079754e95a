"""The words of a delta whose frame has the form that vendors send, counted without parsing it.

An observer sees each delta of each stream, and nearly all of them are of one form. What a pattern
built with :data:`WORDS` matches in full is valid JSON of known members; all else is parsed.
"""

from __future__ import annotations

WORDS = rb'((?:[ !#-\[\]-\xff]++|\\["\\/bfnrt])++)'
"""Pattern of what a JSON string holds, if anything, but for escapes by number."""
TEXT = rb'"[ !#-\[\]-~]*+"'
"""Pattern of a JSON string of plain ASCII."""
NUMBER = rb"(?:0|[1-9][0-9]{0,15}+)"
"""Pattern of a whole number."""


def characters_of(words: bytes) -> int:
    """Return how many characters ``words`` stand for; 0: they are no UTF-8."""
    if not words.isascii():
        try:
            size = len(words.decode())
        except UnicodeDecodeError:
            return 0
    else:
        size = len(words)
    if b"\\" in words:
        size -= words.count(b"\\") - words.count(b"\\\\")
    return size
