"""Reads how an artifact was made and means to be used; written in the JSON form of YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from services.scorer.adapters.bundle.members import Members
from services.scorer.model.artifact import (
    DEFAULT_TOP_P,
    ArtifactKnobs,
    Curve,
    EmbedderRecipe,
)

METADATA = "metadata.yaml"
DEFAULT_EMBEDDER = "jina-code-768"
"""The encoder meant by artifacts that name none; not available here."""
DEFAULT_ALPHA = 0.53
DEFAULT_TEMPERATURE = 0.1
MAX_TEXT_BYTES = 8_192


@dataclass(frozen=True, slots=True, eq=False)
class Metadata:
    """What the metadata of a bundle says."""

    embedder: EmbedderRecipe
    encoder_digest: str
    """SHA-256 of the model file that the embedder runs; empty: it runs none."""
    top_p: int
    temperature: float | None
    far_similarity: float
    knobs: ArtifactKnobs
    curve: Curve | None
    is_internal: bool


def read_metadata(members: Members, shape: tuple[int, ...], models: tuple[str, ...]) -> Metadata:
    """Return the metadata of a bundle whose centroids have that shape.

    Raises:
        BundleError: a value is out of range, or does not fit the centroids.
    """
    clusters, dimensions = shape
    document = members.table(METADATA)
    training = members.mapping(document.get("training", {}), METADATA, "training")
    top_p = _whole(members, training.get("top_p", DEFAULT_TOP_P), "top_p", 1, clusters)
    weighting = training.get("weighting", "softmax")
    if weighting not in ("softmax", "sum"):
        raise members.fault(METADATA, "weighting must be softmax or sum")
    temperature = members.number(
        training.get("temperature", DEFAULT_TEMPERATURE), METADATA, "temperature"
    )
    if temperature <= 0:
        raise members.fault(METADATA, "temperature must be above 0")
    knobs = members.mapping(training.get("default_routing_knobs", {}), METADATA, "knobs")
    return Metadata(
        embedder=_embedder(members, document, dimensions),
        encoder_digest=str(
            members.mapping(document.get("embedder", {}), METADATA, "embedder").get("encoder", "")
        ),
        top_p=top_p,
        temperature=temperature if weighting == "softmax" else None,
        far_similarity=members.number(training.get("far_similarity", -1), METADATA, "far"),
        knobs=_knobs(members, knobs, clusters, training.get("cost", "request")),
        curve=_curve(members, document.get("curve"), models),
        is_internal=training.get("release", True) is not True,
    )


def _embedder(members: Members, document: Mapping[str, object], dimensions: int) -> EmbedderRecipe:
    entry = members.mapping(document.get("embedder", {}), METADATA, "embedder")
    declared = _whole(members, entry.get("embed_dim", dimensions), "embed_dim", 1, 1 << 20)
    if declared != dimensions:
        fault = f"embed_dim {declared} is not the {dimensions} of the centroids"
        raise members.fault(METADATA, fault)
    probe = members.mapping(entry.get("probe", {}), METADATA, "probe")
    vector = members.numbers(probe.get("vector", []), METADATA, "probe vector")
    name = str(entry.get("model", DEFAULT_EMBEDDER))
    if len(vector) != dimensions and name != DEFAULT_EMBEDDER:
        raise members.fault(METADATA, f"the probe vector needs {dimensions} numbers")
    return EmbedderRecipe(
        name=name,
        dimensions=dimensions,
        max_bytes=_whole(members, entry.get("max_bytes", 1_024), "max_bytes", 1, MAX_TEXT_BYTES),
        probe_text=str(probe.get("text", "")),
        probe_vector=np.array(vector),
    )


def _knobs(
    members: Members, entry: Mapping[str, object], clusters: int, cost: object
) -> ArtifactKnobs:
    if cost not in ("request", "ratio"):
        raise members.fault(METADATA, "cost must be request or ratio")
    speed = _within(members, entry.get("speed_weight", 0), "speed_weight", 1)
    alpha = _per_cluster(members, entry.get("alpha", [DEFAULT_ALPHA] * clusters), "alpha", clusters)
    floor = _per_cluster(members, entry.get("alpha_floor", [0] * clusters), "alpha_floor", clusters)
    if max(alpha) + speed > 1 + 1e-9:
        raise members.fault(METADATA, "alpha and speed_weight must be at most 1 together")
    is_verbose = entry.get("per_model_verbosity", False)
    if not isinstance(is_verbose, bool):
        raise members.fault(METADATA, "per_model_verbosity must be true or false")
    return ArtifactKnobs(
        alpha=alpha,
        alpha_floor=floor,
        speed_weight=speed,
        output_cost_ratio=_within(members, entry.get("output_cost_ratio", 0), "ratio", 10),
        expected_output_tokens=_whole(
            members,
            entry.get("expected_output_tokens", 2_000),
            "expected_output_tokens",
            0,
            100_000,
        ),
        is_verbosity_per_model=is_verbose,
        is_cost_per_request=cost == "request",
    )


def _curve(members: Members, value: object, models: tuple[str, ...]) -> Curve | None:
    if value is None:
        return None
    entry = members.mapping(value, METADATA, "curve")
    slope = members.number(entry.get("slope"), METADATA, "slope of the curve")
    if slope <= 0:
        raise members.fault(METADATA, "slope of the curve must be above 0")

    def column(key: str) -> list[float]:
        row = members.mapping(entry.get(key), METADATA, f"{key} of the curve")
        for model in models:
            if model not in row:
                raise members.fault(METADATA, f"{key} of the curve lack model {model!r}")
        return [members.number(row[model], METADATA, f"{key}, {model}") for model in models]

    scale = members.number(entry.get("scale", 1), METADATA, "scale of the curve")
    if scale <= 0:
        raise members.fault(METADATA, "scale of the curve must be above 0: better must stay better")
    return Curve(
        base=members.number(entry.get("base"), METADATA, "base of the curve"),
        weights=np.array(column("weights")),
        slope=slope,
        skills=np.array(column("skills")),
        scale=scale,
        shift=members.number(entry.get("shift", 0), METADATA, "shift of the curve"),
    )


def _per_cluster(members: Members, value: object, what: str, clusters: int) -> tuple[float, ...]:
    values = members.numbers(value, METADATA, what)
    if len(values) != clusters:
        raise members.fault(METADATA, f"{what} needs {clusters} numbers")
    return tuple(_within(members, entry, what, 1) for entry in values)


def _within(members: Members, value: object, what: str, most: float) -> float:
    number = members.number(value, METADATA, what)
    if not 0 <= number <= most:
        raise members.fault(METADATA, f"{what} must be from 0 to {most}")
    return number


def _whole(members: Members, value: object, what: str, least: int, most: int) -> int:
    number = members.number(value, METADATA, what)
    if number != int(number) or not least <= number <= most:
        raise members.fault(METADATA, f"{what} must be a whole number from {least} to {most}")
    return int(number)
