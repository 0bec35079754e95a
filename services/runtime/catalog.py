"""Loads the model catalog: the built-in file, then the files that the configuration adds."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from services.domain.catalog import Catalog, CatalogError, build_catalog
from services.runtime.sources import ConfigError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from services.runtime.settings import CatalogSettings


def load_catalog(
    settings: CatalogSettings, base: Path, extra_documents: Iterable[Mapping[str, object]] = ()
) -> Catalog:
    """Return the built-in models overlaid by ``extra_documents`` and the configured files.

    Relative file names start from ``base``. A later entry of the same id replaces the earlier.

    Raises:
        ConfigError: a file cannot be read or an entry is unusable; names file, model and fix.
    """
    documents = [builtin_document(), *extra_documents]
    for name in settings.extend:
        path = base / Path(name).expanduser()
        documents.append(parse_toml(path))
        _check(documents, str(path))
    return _check(documents, "built-in catalog")


def builtin_document() -> dict[str, object]:
    """Return the catalog that ships with the product."""
    file = resources.files("services.runtime").joinpath("data/catalog.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _check(documents: list[Mapping[str, object]], source: str) -> Catalog:
    try:
        return build_catalog(documents)
    except CatalogError as error:
        raise ConfigError(f"{source}: {error}") from None
