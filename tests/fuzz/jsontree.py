"""JSON as a tree of lexemes: it can say what no JSON value can (a key twice, NaN, half a pair)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.fuzz.choices import Choices


class Member:
    """A key as it is written, quotes included, and its value."""

    __slots__ = ("key", "value")

    def __init__(self, key: str, value: Tree) -> None:
        self.key = key
        self.value = value


class Members:
    """An object; a key may come more than once."""

    __slots__ = ("members",)

    def __init__(self, members: list[Member]) -> None:
        self.members = members


Tree: TypeAlias = "str | list[Tree] | Members"
"""A scalar as it is written, an array, or an object."""

ODD = (
    "null",
    "true",
    "false",
    "0",
    "-1",
    "-0.0",
    "1.0",
    "1e3",
    "1e999",
    "-1e400",
    "1e-400",
    "0.1000000000000000055511151231257827",
    str(2**53 + 1),
    str(2**63),
    str(-(2**64)),
    "9" * 400,
    "1" * 5000,
    "NaN",
    "-Infinity",
    "01",
    '""',
    '" "',
    '"\\n"',
    '"\\ud800"',
    '"\\udc00\\ud83d"',
    '"\\ud83d\\ude00"',
    '"\\u0000"',
    '"\U0001f600"',
    '"\\x"',
    '"' + "a" * 300 + '"',
    '"' + "a.b/ü" * 20 + '"',
    '"{"',
    '"{}"',
    '"null"',
    '"[1,{\\"a\\":}"',
    '"{\\"a\\":1,}"',
    '"```json\\n{\\"a\\":1}\\n```"',
    '"data:image/png;base64,aGk="',
    '"data:,"',
    '"data:;base64,"',
    '"[tool call failed]"',
    '"#/$defs/node"',
    "[]",
    "{}",
    "[[]]",
    "[null]",
    "[{}]",
    '[""]',
    '{"":null}',
    '{"type":"object"}',
    '{"$ref":"#"}',
    '{"type":"text","text":"\\udfff"}',
)
"""Values that readers trip over."""

_MAX_NESTING = 3000


def grown(value: object) -> Tree:
    """Return the tree of a JSON value."""
    if isinstance(value, dict):
        return Members([Member(json.dumps(key), grown(item)) for key, item in value.items()])
    if isinstance(value, list | tuple):
        return [grown(item) for item in value]
    return json.dumps(value, ensure_ascii=False)


def copied(tree: Tree) -> Tree:
    """Return a tree that can be changed without changing ``tree``."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, list):
        return [copied(item) for item in tree]
    return Members([Member(member.key, copied(member.value)) for member in tree.members])


def written(tree: Tree) -> str:
    """Return the text of a tree."""
    if isinstance(tree, str):
        return tree
    if isinstance(tree, list):
        return "[" + ",".join([written(item) for item in tree]) + "]"
    told = [f"{member.key}:{written(member.value)}" for member in tree.members]
    return "{" + ",".join(told) + "}"


def words_of(values: Sequence[object]) -> tuple[str, ...]:
    """Return every key and text of JSON values as lexemes, in order and without repeats."""
    return tuple(dict.fromkeys(word for value in values for word in _words(value)))


def _words(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield json.dumps(key)
            yield from _words(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _words(item)
    elif isinstance(value, str):
        yield json.dumps(value, ensure_ascii=False)


_Slot: TypeAlias = "tuple[list[Tree] | Members, int]"


def _slots(tree: Tree) -> Iterator[_Slot]:
    """Return every place of a tree that holds a value."""
    if isinstance(tree, str):
        return
    items = tree if isinstance(tree, list) else [member.value for member in tree.members]
    for at, item in enumerate(items):
        yield tree, at
        yield from _slots(item)


def _at(slot: _Slot) -> Tree:
    container, at = slot
    return container[at] if isinstance(container, list) else container.members[at].value


def _put(slot: _Slot, value: Tree) -> None:
    container, at = slot
    if isinstance(container, list):
        container[at] = value
    else:
        container.members[at].value = value


def spoil(tree: Tree, choices: Choices, words: Sequence[str]) -> None:
    """Change one place of ``tree``; ``words`` are the keys and texts of its dialect."""
    slots = list(_slots(tree))
    if not slots:
        return
    slot = choices.one_of(slots)
    match choices.below(9):
        case 0:
            _put(slot, choices.one_of(ODD))
        case 1:
            _remove(slot)
        case 2:
            _repeat(slot)
        case 3:
            _put(slot, choices.one_of(words))
        case 4:
            _rename(slot, choices.one_of(words))
        case 5:
            _put(slot, _nested(written(_at(slot)), choices, words))
        case 6:
            _put(slot, copied(_at(choices.one_of(slots))))
        case 7:
            _put(slot, _of_other_type(_at(slot), choices))
        case _:
            _add(_at(slot), choices, words)


def _remove(slot: _Slot) -> None:
    container, at = slot
    if isinstance(container, list):
        del container[at]
    else:
        del container.members[at]


def _repeat(slot: _Slot) -> None:
    container, at = slot
    if isinstance(container, list):
        container.insert(at, copied(container[at]))
    else:
        member = container.members[at]
        container.members.append(Member(member.key, copied(member.value)))


def _rename(slot: _Slot, key: str) -> None:
    container, at = slot
    if isinstance(container, Members):
        container.members[at].key = key


def _nested(text: str, choices: Choices, words: Sequence[str]) -> str:
    depth = 1 + choices.below(choices.one_of((3, 300, _MAX_NESTING)))
    key = choices.one_of(("", *words))
    if key:
        return f"{{{key}:" * depth + text + "}" * depth
    return "[" * depth + text + "]" * depth


def _of_other_type(tree: Tree, choices: Choices) -> Tree:
    if isinstance(tree, str):
        return [tree] if choices.below(2) else json.dumps(tree)
    if choices.below(2):
        return json.dumps(written(tree))
    if isinstance(tree, list):
        return tree[0] if tree else "null"
    return [member.value for member in tree.members]


def _add(tree: Tree, choices: Choices, words: Sequence[str]) -> None:
    value = choices.one_of((choices.one_of(ODD), choices.one_of(words)))
    if isinstance(tree, list):
        tree.append(value)
    elif isinstance(tree, Members):
        tree.members.append(Member(choices.one_of(words), value))


def any_tree(choices: Choices, words: Sequence[str], depth: int = 0) -> Tree:
    """Return a tree that follows no dialect, in the words of one."""
    kind = choices.below(4) if depth < 6 else 0
    if kind == 0:
        return choices.one_of(ODD)
    if kind == 1:
        return choices.one_of(words)
    count = choices.below(5)
    if kind == 2:
        return [any_tree(choices, words, depth + 1) for _ in range(count)]
    return Members(
        [
            Member(choices.one_of(words), any_tree(choices, words, depth + 1))
            for _ in range(count + (depth == 0) * 4)
        ]
    )
