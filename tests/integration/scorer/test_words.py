"""Looking words up gives the very pieces that the shipped tokenizer gives."""

from __future__ import annotations

from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from services.scorer.adapters.wordpiece import read_tokenizer
from services.scorer.adapters.words import PlainWords
from services.scorer.build import shipped
from services.scorer.policy.tally import tallied

LATEST = (shipped() / "latest").read_text(encoding="utf-8").strip()
CONTENT = (shipped() / LATEST / "tokenizer.json").read_bytes()
TOKENIZER = read_tokenizer(CONTENT)
PLAIN = PlainWords(TOKENIZER)
WORDS = st.sampled_from(
    [*sorted(TOKENIZER.get_vocab())[::7], "[UNK]", "x" * 99, "y" * 101, "unbelievably", "OpenAI's"]
)
MARKS = st.sampled_from([" ", "\t", "\n", "'", "-", "_", "/", "."])
WIDE = st.sampled_from([*"\u00a0\u0085\u0301\u2028\ufffdé‘ßİ", "日本"])
TEXTS = (
    st.text(st.characters(max_codepoint=127))
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.lists(WORDS | MARKS).map("".join)
    | st.lists(st.text("abcdexyz0189", max_size=30)).map(" ".join)
    | st.lists(WORDS | MARKS | WIDE).map("".join)
)


def looked_up(text: str, words: PlainWords = PLAIN) -> list[tuple[int, int]] | None:
    found = words.counts(text, tallied(text))
    return None if found is None else list(found.items())


def tokenized(text: str) -> list[tuple[int, int]]:
    return list(Counter(TOKENIZER.encode(text, add_special_tokens=False).ids).items())


@given(TEXTS)
def test_words_that_are_looked_up_are_the_tokenizers_pieces_in_its_order(text: str) -> None:
    found = looked_up(text)
    assert found is None or found == tokenized(text)


def test_the_longest_pieces_are_found_in_longer_words() -> None:
    pieces = [piece.removeprefix("##") for piece in TOKENIZER.get_vocab()]
    plain = sorted((p for p in pieces if p.isascii() and p.isalnum()), key=len)
    longest = {piece[0]: piece for piece in plain}
    text = " ".join(f"{before}{piece}q" for piece in longest.values() for before in ("", "q", "8"))
    assert looked_up(text) == tokenized(text)


@pytest.mark.parametrize("text", ["a\x00b", "a\x0bb", "é\x7f"])
def test_what_needs_cleaning_is_left_to_the_tokenizer(text: str) -> None:
    assert looked_up(f"plain words {text}") is None


@pytest.mark.parametrize(
    "change",
    [{"normalizer": None}, {"pre_tokenizer": {"type": "Whitespace"}}],
    ids=["normalizer", "pre_tokenizer"],
)
def test_a_tokenizer_of_another_kind_is_always_asked(change: dict[str, object]) -> None:
    described = {**orjson.loads(CONTENT), **change}
    other = Tokenizer.from_str(orjson.dumps(described).decode())
    assert looked_up("plain words", PlainWords(other)) is None
