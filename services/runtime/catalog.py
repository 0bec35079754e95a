"""Loads the model catalog: the built-in file, then the files that the configuration adds."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from services.domain.catalog import Catalog, CatalogError, build_catalog
from services.runtime.schema import hint
from services.runtime.sources import ConfigError, parse_toml

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from services.runtime.settings import CatalogSettings


def load_catalog(
    settings: CatalogSettings,
    base: Path,
    extra_documents: Iterable[Mapping[str, object]] = (),
    *,
    providers: Collection[str] | None = None,
) -> Catalog:
    """Return the built-in models overlaid by ``extra_documents`` and the configured files.

    Relative file names start from ``base``. A later entry of the same id replaces the earlier.
    ``providers`` are those that bindings may name; None: any.

    Raises:
        ConfigError: a file cannot be read or an entry is unusable; names file, model and fix.
    """
    documents = [builtin_document(), *extra_documents]
    for path in catalog_files(settings, base):
        documents.append(parse_toml(path))
        _refuse_strangers(_check(documents, str(path)), str(path), providers)
    return _check(documents, "built-in catalog")


def catalog_files(settings: CatalogSettings, base: Path) -> tuple[Path, ...]:
    """Return the files that add to the built-in models, in order."""
    return tuple(base / Path(name).expanduser() for name in settings.extend)


def builtin_document() -> dict[str, object]:
    """Return the catalog that ships with the product."""
    file = resources.files("services.runtime").joinpath("data/catalog.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _refuse_strangers(catalog: Catalog, source: str, providers: Collection[str] | None) -> None:
    """Raise where a binding is at a provider that is not there: nothing could ever serve it."""
    bindings = (binding for model in catalog.models.values() for binding in model.bindings)
    for binding in bindings:
        name = binding.provider
        if providers is not None and name not in providers:
            raise ConfigError(
                f"{source}: model {binding.model_id!r}, binding {binding.index}: no provider"
                f" {name!r}; {hint(name, providers)} (or add [providers.{name}])"
            )


def _check(documents: list[Mapping[str, object]], source: str) -> Catalog:
    try:
        return build_catalog(documents)
    except CatalogError as error:
        raise ConfigError(f"{source}: {error}") from None
