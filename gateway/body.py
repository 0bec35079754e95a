"""Reads a request body: bounded before and after decoding, never larger in memory than allowed."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol

import zstandard

from services.domain.errors import Reason, RouterError
from services.domain.wire.model import WireError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

_BOM = b"\xef\xbb\xbf"
_STEP_BYTES = 256 * 1024
"""Most decoded bytes asked for at once, so that a bomb is found before it grows."""
_SLICE_BYTES = 64 * 1024
"""Most bytes inflated at once: what follows a step's end is copied with each."""
MOST_MEMBERS = 4_096
"""Of a gzip body: each takes a decoder of its own, whatever little it holds."""
_CUT_OR_FOLLOWED = "the compressed body is cut off, or something follows it"


class _Inflater(Protocol):
    def feed(self, data: bytes) -> bytes: ...

    def is_complete(self) -> bool: ...


async def read_body(
    chunks: AsyncIterator[bytes], encoding: str, declared_bytes: int | None, limit: int
) -> bytes:
    """Return the decoded body without a byte order mark.

    ``limit`` holds for the decoded size; a plain body that declares more is refused unread.

    Raises:
        RouterError: MESSAGE_TOO_LARGE.
        WireError: the content encoding is unknown or its data is broken.
    """
    decoding = _Decoding(encoding, limit)
    if not decoding.is_compressed and declared_bytes is not None and declared_bytes > limit:
        raise too_large(limit)
    async for chunk in chunks:
        decoding.take(chunk)
    return decoding.finish()


def decoded_body(data: bytes, encoding: str, limit: int) -> bytes:
    """Return what :func:`read_body` does of a body that is here already.

    Raises:
        RouterError: MESSAGE_TOO_LARGE.
        WireError: the content encoding is unknown or its data is broken.
    """
    decoding = _Decoding(encoding, limit)
    decoding.take(data)
    return decoding.finish()


class _Decoding:
    """One body on its way out of its encoding."""

    def __init__(self, encoding: str, limit: int) -> None:
        self._inflater = _inflater_of(encoding, limit)
        self._limit = limit
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def is_compressed(self) -> bool:
        return self._inflater is not None

    def take(self, chunk: bytes) -> None:
        piece = chunk if self._inflater is None else self._inflater.feed(chunk)
        self._size += len(piece)
        if self._size > self._limit:
            raise too_large(self._limit)
        self._pieces.append(piece)

    def finish(self) -> bytes:
        if self._inflater is not None and not self._inflater.is_complete():
            raise WireError("", _CUT_OR_FOLLOWED)
        body = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        return body.removeprefix(_BOM)


def too_large(limit: int) -> RouterError:
    """Return the refusal of a body over the limit."""
    return RouterError(
        Reason.MESSAGE_TOO_LARGE,
        f"the request body is larger than {limit} bytes: shorten the conversation or raise"
        " [gateway] max_body_bytes",
        metadata={"limit": str(limit)},
    )


def _inflater_of(encoding: str, limit: int) -> _Inflater | None:
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    make = _INFLATERS.get(name)
    if make is None:
        raise WireError(
            "", f"content-encoding {name[:40]!r} is not supported: use gzip, deflate or zstd"
        )
    return make(limit)


class _Zlib:
    """Inflates gzip, of one member or several, and deflate; raw is told by its first bytes."""

    def __init__(self, limit: int, *, is_gzip: bool) -> None:
        self._limit = limit
        self._is_gzip = is_gzip
        self._inflate: zlib._Decompress | None = None
        self._ended_members = 0

    def feed(self, data: bytes) -> bytes:
        out = bytearray()
        try:
            for start in range(0, len(data), _SLICE_BYTES):
                self._feed(data[start : start + _SLICE_BYTES], out)
        except zlib.error:
            raise WireError("", "the compressed body cannot be read") from None
        return bytes(out)

    def is_complete(self) -> bool:
        return self._inflate is not None and self._inflate.eof

    def _feed(self, data: bytes, out: bytearray) -> None:
        while data:
            inflate = self._inflate = self._inflate_of(data)
            out += inflate.decompress(data, _STEP_BYTES)
            if len(out) > self._limit:
                raise too_large(self._limit)
            data = inflate.unconsumed_tail or inflate.unused_data

    def _inflate_of(self, data: bytes) -> zlib._Decompress:
        """Return what inflates the next bytes: a gzip member may follow one that ended."""
        if self._inflate is None:
            return zlib.decompressobj(self._window_bits(data))
        if not self._inflate.eof:
            return self._inflate
        if not self._is_gzip:
            raise WireError("", _CUT_OR_FOLLOWED)
        self._ended_members += 1
        if self._ended_members == MOST_MEMBERS:
            raise WireError("", f"the compressed body must have at most {MOST_MEMBERS} members")
        return zlib.decompressobj(self._window_bits(data))

    def _window_bits(self, data: bytes) -> int:
        if self._is_gzip:
            return 16 + zlib.MAX_WBITS
        is_wrapped = len(data) >= 2 and data[0] & 0x0F == 8 and (data[0] * 256 + data[1]) % 31 == 0
        return zlib.MAX_WBITS if is_wrapped else -zlib.MAX_WBITS


class _Zstd:
    """Inflates zstandard, in steps and with a bounded window."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._inflate = zstandard.ZstdDecompressor(max_window_size=2**27).decompressobj()

    def feed(self, data: bytes) -> bytes:
        out = bytearray()
        try:
            for start in range(0, len(data), 1024):
                out += self._inflate.decompress(data[start : start + 1024])
                if len(out) > self._limit:
                    raise too_large(self._limit)
        except zstandard.ZstdError:
            raise WireError("", "the compressed body cannot be read") from None
        return bytes(out)

    def is_complete(self) -> bool:
        return self._inflate.eof and not self._inflate.unused_data


_INFLATERS: Mapping[str, Callable[[int], _Inflater]] = {
    "gzip": lambda limit: _Zlib(limit, is_gzip=True),
    "x-gzip": lambda limit: _Zlib(limit, is_gzip=True),
    "deflate": lambda limit: _Zlib(limit, is_gzip=False),
    "zstd": _Zstd,
}
