"""Undoes the content encoding of an answer as it arrives."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import AttemptFault, Fault
from services.domain.vocab import FailureClass

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PIECE_BYTES = 256 * 1024
"""Bytes of a body undone from its encoding at a time."""
_GZIP_BITS = 16 + zlib.MAX_WBITS
_WINDOW_BITS = {"gzip": _GZIP_BITS, "x-gzip": _GZIP_BITS, "deflate": zlib.MAX_WBITS}


class Unpacking:
    """Undoes one encoding: gzip of one member or several, deflate with or without its wrapper.

    Source: RFC 1952 §2.2, members follow each other with nothing in between.
    """

    def __init__(self, encoding: str) -> None:
        """Take the name of the encoding.

        Raises:
            AttemptFault: BAD_RESPONSE; it is none that was asked for.
        """
        if encoding not in _WINDOW_BITS:
            message = "the body came in an unknown encoding"
            raise AttemptFault(Fault(FailureClass.BAD_RESPONSE, message=message))
        self._window_bits = _WINDOW_BITS[encoding]
        self._inner = zlib.decompressobj(self._window_bits)
        self._is_first = self._window_bits == zlib.MAX_WBITS
        self._is_between = False
        """Whether a member ended and nothing came of another one."""
        self.is_over = False
        """Whether the encoding's own end came."""

    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Return the bytes that ``data`` completes, little by little: there may be very many."""
        while data and not self.is_over:
            try:
                for piece in self._pieces_of_member(data):
                    self._is_between = False
                    yield piece
            except zlib.error:
                if not self._is_between:
                    raise
                self.is_over = True  # padding, not another member
                return
            data = self._inner.unused_data
            if self._inner.eof:
                self._end_member()

    def _pieces_of_member(self, data: bytes) -> Iterator[bytes]:
        piece = self._decompress(data)
        while piece:
            yield piece
            rest = self._inner.unconsumed_tail
            piece = self._decompress(rest) if rest or len(piece) == MAX_PIECE_BYTES else b""

    def _end_member(self) -> None:
        self._is_between = True
        self.is_over = self._window_bits != _GZIP_BITS
        self._inner = zlib.decompressobj(self._window_bits)

    def _decompress(self, data: bytes) -> bytes:
        try:
            return self._inner.decompress(data, MAX_PIECE_BYTES)
        except zlib.error:
            if not self._is_first:
                raise
            self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
            return self._inner.decompress(data, MAX_PIECE_BYTES)
        finally:
            self._is_first = False
