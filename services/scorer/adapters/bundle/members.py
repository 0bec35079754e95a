"""The files of one bundle: listed in its manifest, of bounded size, with the digests it names."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from services.scorer.model.artifact import Floats
from services.scorer.model.fault import BundleError

FORMAT = 2
MANIFEST = "manifest.json"
LATEST = "latest"
MAX_MEMBER_BYTES = 4 * 1024 * 1024
"""Largest file of a bundle; it fits a repository and is read whole."""


@dataclass(frozen=True, slots=True)
class Members:
    """The checked bytes of a bundle, with readers that name version and file in every complaint."""

    version: str
    digest: str
    """SHA-256 of the manifest, hence of everything."""
    contents: Mapping[str, bytes]

    def has(self, name: str) -> bool:
        """Return whether the bundle has the file."""
        return name in self.contents

    def raw(self, name: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            BundleError: the bundle lacks it.
        """
        if name not in self.contents:
            raise self.fault(name, "is missing")
        return self.contents[name]

    def table(self, name: str) -> Mapping[str, object]:
        """Return a JSON object whose numbers are all finite.

        Raises:
            BundleError: the file is missing, no JSON object, or holds NaN or an infinity.
        """

        def refuse(constant: str) -> float:
            raise self.fault(name, f"holds {constant}")

        try:
            read: object = json.loads(self.raw(name), parse_constant=refuse)
        except (ValueError, RecursionError) as error:
            raise self.fault(name, f"is no JSON: {error}") from None
        return self.mapping(read, name, "the file")

    def mapping(self, value: object, name: str, what: str) -> Mapping[str, object]:
        """Return ``value`` as an object.

        Raises:
            BundleError: it is something else.
        """
        if not isinstance(value, dict):
            raise self.fault(name, f"{what} must be an object")
        return value

    def number(self, value: object, name: str, what: str) -> float:
        """Return ``value`` as a finite number.

        Raises:
            BundleError: it is something else.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.fault(name, f"{what} must be a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise self.fault(name, f"{what} must be finite")
        return number

    def numbers(self, value: object, name: str, what: str) -> tuple[float, ...]:
        """Return ``value`` as a list of finite numbers.

        Raises:
            BundleError: it is something else.
        """
        if not isinstance(value, list):
            raise self.fault(name, f"{what} must be a list of numbers")
        return tuple(self.number(entry, name, what) for entry in value)

    def array(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        """Return a stored array of one element type and shape, all numbers finite.

        The header must be the very one that numpy writes for it: nothing in the file is evaluated.

        Raises:
            BundleError: it is missing, of another type, shape or length, or not finite.
        """
        content, header = self.raw(name), _array_header(kind, shape)
        size = np.dtype(kind).itemsize * math.prod(shape)
        if not content.startswith(header) or len(content) != len(header) + size:
            raise self.fault(name, f"must be a numpy file of type {kind} and shape {shape}")
        read = np.frombuffer(content, kind, offset=len(header)).reshape(shape)
        self.finite(read, name)
        return read

    def finite(self, values: np.ndarray, name: str) -> None:
        """Refuse NaN and infinities.

        Raises:
            BundleError: there is one.
        """
        if not np.isfinite(values).all():
            raise self.fault(name, "holds NaN or an infinity")

    def fault(self, name: str, what: str) -> BundleError:
        """Return the complaint about one file."""
        return BundleError(self.version, name, what)


def _array_header(kind: str, shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    facts = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, facts)
    return buffer.getvalue()


def version_to_load(folder: Path, asked: str) -> str:
    """Return the version asked for, else the one that ``latest`` names.

    Raises:
        BundleError: the name is none, or ``latest`` is missing, empty or points to itself.
    """
    version = asked
    if not version:
        try:
            version = (folder / LATEST).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise BundleError(LATEST, str(folder / LATEST), "cannot be read") from None
        if version in ("", LATEST):
            raise BundleError(LATEST, str(folder / LATEST), "must name a version")
    if "/" in version or version.startswith("."):
        raise BundleError(version, LATEST, "must be the plain name of a folder")
    return version


def read_members(folder: Path, version: str) -> Members:
    """Return the files of a bundle after checking them against its manifest.

    Raises:
        BundleError: a file is missing, too large, not listed, or not what the manifest says.
    """
    place = folder / version
    manifest = _bounded(place / MANIFEST, version)
    members = Members(version, hashlib.sha256(manifest).hexdigest(), {MANIFEST: manifest})
    listing = members.table(MANIFEST)
    if listing.get("format") != FORMAT:
        raise members.fault(MANIFEST, f"format must be {FORMAT}")
    if listing.get("version") != version:
        raise members.fault(MANIFEST, "version must be the name of the folder")
    listed = members.mapping(listing.get("members"), MANIFEST, "members")
    _refuse_strays(members, place, listed)
    contents = {name: _checked(members, place / name, listed[name]) for name in sorted(listed)}
    return Members(version, members.digest, contents)


def _refuse_strays(members: Members, place: Path, listed: Iterable[str]) -> None:
    found = {path.name for path in place.iterdir()} - {MANIFEST}
    for name in sorted(found.symmetric_difference(listed)):
        fault = "is not in the manifest" if name in found else "is missing"
        raise members.fault(name, fault)


def _checked(members: Members, path: Path, wanted: object) -> bytes:
    content = _bounded(path, members.version)
    if hashlib.sha256(content).hexdigest() != wanted:
        raise members.fault(path.name, "has another SHA-256 than the manifest says")
    return content


def _bounded(path: Path, version: str) -> bytes:
    try:
        if path.stat().st_size > MAX_MEMBER_BYTES:
            raise BundleError(version, path.name, f"is larger than {MAX_MEMBER_BYTES} bytes")
        return path.read_bytes()
    except OSError as error:
        raise BundleError(version, path.name, f"cannot be read: {error.strerror}") from None


def floats(values: np.ndarray) -> Floats:
    """Return numbers in the precision that is computed with."""
    return values.astype(np.float64)
