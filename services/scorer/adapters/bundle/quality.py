"""Reads what was measured: models, cells, means and speeds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from services.scorer.adapters.bundle.members import Members
from services.scorer.model.artifact import Axes, Floats

REGISTRY = "model_registry.json"
MEANS = "quality_means.json"
AXES = "model_axes.json"
FEATURES = "model_features.json"

_INTEGER = re.compile(r"0|[1-9][0-9]*")
_NAMES = ("model", "provider", "bench_column")


@dataclass(frozen=True, slots=True, eq=False)
class Quality:
    """The measured models in the registry's order with a cell per cluster and model."""

    models: tuple[str, ...]
    aliases: Mapping[str, int]
    cells: Floats
    means: Floats
    axes: Mapping[str, Axes]


def read_quality(members: Members, clusters: int) -> Quality:
    """Return the measured models and their complete table.

    Raises:
        BundleError: a name, a cell or a model's axes is missing, or a key is no cluster.
    """
    models, aliases = _registry(members)
    if members.has(FEATURES):
        cells, axes = _features(members, models, clusters)
        return Quality(models, aliases, cells, cells.mean(axis=0), axes)
    document = members.table(MEANS)
    cells = _cells(members, document.get("quality_means"), models, clusters)
    means = cells.mean(axis=0)
    if "model_means" in document:
        means = np.array(_row(members, document["model_means"], models, MEANS, "model_means"))
    return Quality(models, aliases, cells, means, _axes(members, models))


def _registry(members: Members) -> tuple[tuple[str, ...], Mapping[str, int]]:
    listed = members.table(REGISTRY).get("deployed_models")
    if not isinstance(listed, list) or not listed:
        raise members.fault(REGISTRY, "deployed_models must be a list that is not empty")
    models: list[str] = []
    columns: list[tuple[str, int]] = []
    for index, value in enumerate(listed):
        entry = members.mapping(value, REGISTRY, f"deployed_models[{index}]")
        for key in _NAMES:
            if not isinstance(entry.get(key), str) or not entry[key]:
                raise members.fault(REGISTRY, f"deployed_models[{index}] needs a {key}")
        name = str(entry["model"])
        if name in models:
            continue
        columns.append((str(entry["bench_column"]), len(models)))
        models.append(name)
    aliases = {name: index for index, name in enumerate(models)}
    for column, index in columns:
        aliases.setdefault(column, index)
    return tuple(models), aliases


def _cells(members: Members, value: object, models: tuple[str, ...], clusters: int) -> Floats:
    rows = members.mapping(value, MEANS, "quality_means")
    for key, row in rows.items():
        if not _INTEGER.fullmatch(key):
            raise members.fault(MEANS, f"cluster {key!r} must be a whole number")
        if int(key) >= clusters:
            raise members.fault(MEANS, f"cluster {key} is beyond the {clusters} centroids")
        if not members.mapping(row, MEANS, f"cluster {key}"):
            raise members.fault(MEANS, f"cluster {key} is empty")
    missing = [str(k) for k in range(clusters) if str(k) not in rows]
    if missing:
        raise members.fault(MEANS, f"cluster {missing[0]} has no row")
    return np.array(
        [_row(members, rows[str(k)], models, MEANS, f"cluster {k}") for k in range(clusters)]
    )


def _row(
    members: Members, value: object, models: tuple[str, ...], file: str, what: str
) -> list[float]:
    row = members.mapping(value, file, what)
    for model in models:
        if model not in row:
            raise members.fault(file, f"{what} lacks model {model!r}")
    return [members.number(row[model], file, f"{what}, {model}") for model in models]


def _axes(members: Members, models: tuple[str, ...]) -> dict[str, Axes]:
    axes = members.mapping(members.table(AXES).get("axes"), AXES, "axes")
    for model in models:
        if model not in axes:
            raise members.fault(AXES, f"axes lack model {model!r}")
    return {model: _speed(members, axes[model], AXES, model) for model in models}


def _speed(members: Members, value: object, file: str, model: str) -> Axes:
    row = members.mapping(value, file, f"axes of {model!r}")

    def known(key: str) -> float | None:
        value = row.get(key)
        return None if value is None else members.number(value, file, f"{key} of {model!r}")

    return Axes(known("ttft_s"), known("tps"), known("verbosity_tokens"))


def _features(
    members: Members, models: tuple[str, ...], clusters: int
) -> tuple[Floats, dict[str, Axes]]:
    document = members.table(FEATURES)
    columns: list[tuple[float, ...]] = []
    axes: dict[str, Axes] = {}
    for model in models:
        if model not in document:
            raise members.fault(FEATURES, f"lacks model {model!r}")
        entry = members.mapping(document[model], FEATURES, model)
        probe = members.numbers(entry.get("psi_probe"), FEATURES, f"psi_probe of {model!r}")
        if len(probe) != clusters:
            raise members.fault(FEATURES, f"psi_probe of {model!r} needs {clusters} numbers")
        columns.append(probe)
        axes[model] = _speed(members, entry.get("operational"), FEATURES, model)
    return np.array(columns).T, axes
