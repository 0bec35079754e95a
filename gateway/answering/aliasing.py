"""The names that tenants' endpoints have for models never reach a client. Pure."""

from __future__ import annotations

import re

import orjson

from services.domain.sse import RawSplitter


class AliasFilter:
    """Writes the catalog id where a tenant's endpoint names its own alias as the model."""

    def __init__(self, alias: str, model_id: str) -> None:
        self._splitter = RawSplitter()
        self._alias = alias
        self._model_id = model_id

    def feed(self, data: bytes) -> bytes:
        """Return the complete frames with the alias replaced."""
        frames = self._splitter.feed(data)
        return b"".join(unaliased(frame, self._alias, self._model_id) for frame in frames)

    def finish(self) -> bytes:
        """Return what waits at the end."""
        return unaliased(self._splitter.finish(), self._alias, self._model_id)


_MODEL_MEMBER = re.compile(rb'("model(?:Version)?"\s*:\s*)("(?:[^"\\]|\\.)*")')


def unaliased(document: bytes, alias: str, model_id: str) -> bytes:
    """Return a JSON text whose members that name the model ``alias`` name ``model_id``.

    A quotation mark inside a JSON string has a backslash before it, so that no text can match.
    """
    if b'"model' not in document:
        return document
    wanted = orjson.dumps(alias)
    named = orjson.dumps(model_id)

    def rename(match: re.Match[bytes]) -> bytes:
        return match[1] + named if match[2] == wanted else match[0]

    return _MODEL_MEMBER.sub(rename, document)
