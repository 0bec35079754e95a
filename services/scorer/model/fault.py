"""Faults of bundles and embedders."""

from __future__ import annotations


class BundleError(Exception):
    """A bundle that may not serve; the message names version, file and what is wrong."""

    def __init__(self, version: str, file: str, fault: str) -> None:
        super().__init__(f"artifact {version!r}, {file}: {fault}")
        self.version = version
        self.file = file


class EmbedderError(Exception):
    """An embedder that gave no vector; the message holds nothing of the text."""
