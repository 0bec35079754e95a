"""Which models a credential serves by its own lists."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Container

    from services.credentials.model import CredentialSpec

_OPTION_SUFFIX = re.compile(r"\s*(\([^()]*\)|\[[^\[\]]*\])$")


def split_prefix(model_id: str, prefixes: Container[str]) -> tuple[str, str]:
    """Return the namespace that a model is asked in, of those that are known, and the bare model;
    a model without one is its own."""
    head, slash, rest = model_id.partition("/")
    return (head, rest) if slash and rest and head in prefixes else ("", model_id)


@lru_cache(maxsize=4096)
def canonical_model(name: str) -> str:
    """Return a model name without option suffixes such as ``(high)`` or ``[1m]``.

    Variants of one model share marks, cursors, slots and session bindings.
    """
    return _OPTION_SUFFIX.sub("", name.strip())


def is_match(pattern: str, model_id: str) -> bool:
    """Return whether a pattern names a model: exact, ``a*``, ``*a`` or ``*a*``; case is ignored."""
    wanted, name = pattern.casefold(), canonical_model(model_id).casefold()
    has_start, has_end = wanted.startswith("*"), wanted.endswith("*")
    part = wanted.strip("*")
    if has_start and has_end:
        return part in name
    if has_start:
        return name.endswith(part)
    if has_end:
        return name.startswith(part)
    return name == canonical_model(wanted)


def serves(spec: CredentialSpec, model_id: str) -> bool:
    """Return whether the credential's own lists let it serve a model.

    An empty name is a question about no model in particular, which any credential answers. A
    gateway key serves only what it aliases.
    """
    is_open = not (spec.model_ids or spec.excluded_model_patterns)
    if not model_id or (is_open and spec.kind is not CredentialKind.GATEWAY):
        return True
    name = canonical_model(model_id)
    if spec.kind is CredentialKind.GATEWAY and not spec.alias(name):
        return False
    if spec.model_ids and not any(is_match(allowed, name) for allowed in spec.model_ids):
        return False
    return not any(is_match(pattern, name) for pattern in spec.excluded_model_patterns)
