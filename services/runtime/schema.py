"""Answers questions about settings classes: which key is there, what it holds, what it is called.

A path is the dotted name of a key as a tuple: ``("providers", "acme", "api_key")``.
"""

from __future__ import annotations

import difflib
import types
import typing
from typing import TYPE_CHECKING, Union

from pydantic import BaseModel, SecretStr

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Path = tuple[str, ...]


def type_at(schema: type[BaseModel], path: Path) -> object | None:
    """Return the declared type of the value at ``path``; None where the schema has no such key."""
    at: object = schema
    for key in path:
        at = _child(at, key)
        if at is None:
            return None
    return at


def _child(at: object, key: str) -> object | None:
    for arm in _arms(at):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            known = arm.model_fields.get(key)
            return None if known is None else known.annotation
        origin, inner = typing.get_origin(arm), typing.get_args(arm)
        if origin is dict or (origin in (list, tuple) and key.isdigit()):
            held: tuple[object, ...] = inner
            return held[1 if origin is dict else 0]
    return None


def _arms(at: object) -> tuple[object, ...]:
    if typing.get_origin(at) is typing.Annotated:
        return _arms(typing.get_args(at)[0])
    if typing.get_origin(at) in (Union, types.UnionType):
        return tuple(arm for part in typing.get_args(at) for arm in _arms(part))
    return (at,)


def keys_at(schema: type[BaseModel], path: Path) -> tuple[str, ...]:
    """Return the valid keys of the table at ``path``; none where any name goes."""
    at = type_at(schema, path)
    for arm in _arms(at):
        if isinstance(arm, type) and issubclass(arm, BaseModel):
            return tuple(arm.model_fields)
    return ()


def is_text(at: object) -> bool:
    """Return whether a value of that type is a text, so that it is never read as JSON."""
    return all(arm in (str, SecretStr, type(None)) for arm in _arms(at))


def is_secret(at: object) -> bool:
    """Return whether a value of that type is a secret."""
    return SecretStr in _arms(at)


def hint(key: str, known: Iterable[str]) -> str:
    """Return what to write in place of an unknown key: the nearest valid one, else all of them."""
    names = sorted(known)
    near = difflib.get_close_matches(key, names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"valid here: {', '.join(names)}" if names else "remove it"


def leaves(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """Yield every value below ``value`` that holds no further values, with its path.

    Empty tables and lists are yielded as they are, so that no key is lost.
    """
    match value:
        case BaseModel():
            children = [(name, getattr(value, name)) for name in type(value).model_fields]
        case dict() if value:
            children = [(str(name), child) for name, child in value.items()]
        case list() | tuple() if value and isinstance(value[0], BaseModel):
            children = [(str(index), child) for index, child in enumerate(value)]
        case _:
            yield path, value
            return
    for name, child in children:
        yield from leaves(child, (*path, name))
