"""A JSON document that keeps its bytes: decoded values for decisions, spans for what is re-emitted.

The whole body is validated: UTF-8, one object, no NaN or Infinity, bounded depth. A *plan* says
which containers are opened; each opened object or array knows the span of every child, and what a
plan leaves closed is decoded in one go. Numbers beyond 64 bits and lone surrogates survive, since
re-emitted fragments are slices of the source and never dumps of values.

Edits are splices: everything outside an edited span keeps its bytes, blanks and key order.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from services.domain.wire.model import WireError
from services.domain.wire.reading import MAX_DEPTH, TooDeepError, limit_depth, refuse_constant

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Plan: TypeAlias = "Mapping[str, Plan]"
"""Which children of a container are opened themselves: by member name, or ``*`` for all items."""

_BLANKS = re.compile(r"[ \t\n\r]*")
_match_member = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*').match
"""A member's name without escapes, up to its value: what nearly all names are."""
_BLANK_CHARS = frozenset(" \t\n\r")
_BOM = b"\xef\xbb\xbf"


class Edit(NamedTuple):
    """Replacement of the characters from ``start`` to ``end`` of a document's text."""

    start: int
    end: int
    replacement: str


_NO_MEMBERS: dict[str, Node] = {}
"""What values that are not opened objects share; never written to."""


class Node:
    """One value of a document: what it decodes to, and where it stands.

    ``start`` and ``end`` count characters of the text; ``outer_start`` is where its key begins when
    it is a member of an object. ``children`` is None for a value that the plan did not open.
    """

    __slots__ = ("children", "end", "key", "members", "outer_start", "start", "text", "value")

    def __init__(self, text: str, start: int, key: str, outer_start: int) -> None:
        self.text = text
        self.start = start
        self.outer_start = outer_start
        self.end = start
        self.key = key
        self.value: object = None
        self.children: list[Node] | None = None
        self.members = _NO_MEMBERS

    @property
    def source(self) -> str:
        """The JSON text of the value as it was written."""
        return self.text[self.start : self.end]

    @property
    def raw(self) -> bytes:
        """The JSON bytes of the value as they were written."""
        return self.text[self.start : self.end].encode()

    @property
    def items(self) -> list[Node]:
        """The children; empty for a value that is not opened."""
        return self.children or []

    def replaced_by(self, json_text: str) -> Edit:
        """Return the edit that puts other JSON in the place of this value."""
        return Edit(self.start, self.end, json_text)

    def without(self, unwanted: Collection[Node]) -> list[Edit]:
        """Return the edits that remove children with their keys and commas."""
        drop = {id(node) for node in unwanted}
        edits: list[Edit] = []
        last_kept: Node | None = None
        run: list[Node] = []
        for child in self.items:
            if id(child) in drop:
                run.append(child)
                continue
            if run:
                edits.append(Edit(run[0].outer_start, child.outer_start, ""))
                run = []
            last_kept = child
        if run:
            start = last_kept.end if last_kept else run[0].outer_start
            edits.append(Edit(start, run[-1].end, ""))
        return edits

    def with_member(self, key: str, json_text: str) -> Edit:
        """Return the edit that adds a member in front of the others of this object."""
        comma = "," if self.items else ""
        return Edit(self.start + 1, self.start + 1, f"{json.dumps(key)}:{json_text}{comma}")


class Document:
    """A validated body: an object whose planned parts are opened."""

    __slots__ = ("duplicates", "root", "text")

    def __init__(self, text: str, root: Node, duplicates: tuple[str, ...]) -> None:
        self.text = text
        self.root = root
        self.duplicates = duplicates
        """Top-level keys that came twice, sorted."""

    def member(self, key: str) -> Node | None:
        """Return a top-level member, or None when the key is absent."""
        return self.root.members.get(key)

    def value(self, key: str) -> object:
        """Return the decoded value of a top-level member; None for null and for absent."""
        node = self.root.members.get(key)
        return None if node is None else node.value

    def splice(self, edits: Sequence[Edit]) -> bytes:
        """Return the body with ``edits`` applied; no edits give the very bytes of the text.

        Raises:
            ValueError: two edits overlap.
        """
        if not edits:
            return self.text.encode()
        parts: list[str] = []
        at = 0
        for edit in sorted(edits, key=itemgetter(0, 1)):
            if edit.start < at:
                raise ValueError("edits overlap")
            parts.append(self.text[at : edit.start])
            parts.append(edit.replacement)
            at = edit.end
        parts.append(self.text[at:])
        return "".join(parts).encode()


def scan(body: bytes, plan: Plan) -> Document:
    """Return the document of ``body`` with the containers of ``plan`` opened.

    A byte order mark is skipped.

    Raises:
        WireError: the body is not UTF-8, not JSON, not one object, or nested too deeply.
    """
    try:
        text = body.removeprefix(_BOM).decode()
    except UnicodeDecodeError as error:
        raise WireError("", f"body is not UTF-8 at byte {error.start}") from None
    try:
        start = _skip_blanks(text, 0)
        if text[start : start + 1] != "{":
            raise WireError("", "body must be a JSON object")
        root = _open_object(text, Node(text, start, "", start), plan)
        if _skip_blanks(text, root.end) != len(text):
            raise WireError("", "body goes on after its JSON object")
    except (RecursionError, TooDeepError):
        raise WireError("", "body is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise WireError("", f"body is not JSON at character {error.pos}: {error.msg}") from None
    except ValueError as error:
        raise WireError("", f"body is not JSON: {error}") from None
    return Document(text, root, _duplicates(root))


def _duplicates(root: Node) -> tuple[str, ...]:
    if len(root.members) == len(root.items):
        return ()
    times = Counter(child.key for child in root.items)
    return tuple(sorted(key for key, count in times.items() if count > 1))


_decode = json.JSONDecoder(parse_constant=refuse_constant).raw_decode


def _skip_blanks(text: str, at: int) -> int:
    if text[at : at + 1] not in _BLANK_CHARS:
        return at
    if text[at + 1 : at + 2] not in _BLANK_CHARS:
        return at + 1
    match = _BLANKS.match(text, at)
    return match.end() if match else at


def _odd_member(text: str, at: int) -> tuple[str, int]:
    """Return the name that begins at ``at``, which is not plain, and where its value begins."""
    if text[at : at + 1] != '"':
        raise json.JSONDecodeError("expected a member name", text, at)
    key, end = _decode(text, at)
    colon = _skip_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise json.JSONDecodeError("expected a colon", text, colon)
    return key, _skip_blanks(text, colon + 1)


def _open(text: str, node: Node, plan: Plan) -> None:
    """Fill ``node`` with the value that begins at its start."""
    first = text[node.start : node.start + 1]
    if first == "{":
        _open_object(text, node, plan)
    elif first == "[":
        _open_array(text, node, plan.get("*"))
    else:
        node.value, node.end = _decode(text, node.start)


# The two loops below look for what most JSON has there before they skip blanks.


def _open_object(text: str, node: Node, plan: Plan) -> Node:
    children: list[Node] = []
    value: dict[str, object] = {}
    members = node.members = {}
    at = node.start + 1
    if text[at : at + 1] != '"':
        at = _skip_blanks(text, at)
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            plain = _match_member(text, at)
            if plain is None:
                key, start = _odd_member(text, at)
            else:
                key, start = plain[1], plain.end()
            members[key] = child = Node(text, start, key, at)
            children.append(child)
            if key in plan:
                _open(text, child, plan[key])
                value[key], at = child.value, child.end
            else:
                value[key], at = child.value, child.end = _decode(text, start)
                if at - start > MAX_DEPTH:
                    limit_depth(child.value, text, start, at)
            mark = text[at : at + 1]
            if mark not in ",}":
                at = _skip_blanks(text, at)
                mark = text[at : at + 1]
            at += 1
            if mark == "}":
                break
            if mark != ",":
                raise json.JSONDecodeError("expected a comma or a closing brace", text, at - 1)
            if text[at : at + 1] == " ":
                at += 1
            if text[at : at + 1] != '"':
                at = _skip_blanks(text, at)
    node.end = at
    node.value = value
    node.children = children
    return node


def _open_array(text: str, node: Node, plan: Plan | None) -> Node:
    children: list[Node] = []
    at = _skip_blanks(text, node.start + 1)
    if text[at : at + 1] == "]":
        at += 1
    else:
        while True:
            child = Node(text, at, "", at)
            if plan is None:
                child.value, child.end = _decode(text, at)
                if child.end - at > MAX_DEPTH:
                    limit_depth(child.value, text, at, child.end)
            else:
                _open(text, child, plan)
            children.append(child)
            at = child.end
            mark = text[at : at + 1]
            if mark not in ",]":
                at = _skip_blanks(text, at)
                mark = text[at : at + 1]
            at += 1
            if mark == "]":
                break
            if mark != ",":
                raise json.JSONDecodeError("expected a comma or a closing bracket", text, at - 1)
            at = _skip_blanks(text, at)
    node.end = at
    node.value = [child.value for child in children]
    node.children = children
    return node
