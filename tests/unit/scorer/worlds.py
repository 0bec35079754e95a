"""Small catalogs and artifacts for the scorer's unit tests."""

from __future__ import annotations

import numpy as np

from services.domain.catalog import Catalog, build_catalog
from services.scorer.model.artifact import (
    NO_PIECES,
    Artifact,
    ArtifactKnobs,
    Axes,
    ClusterHead,
    Curve,
    EmbedderRecipe,
    Floats,
    TextVector,
)
from services.scorer.model.decision import Decision
from services.scorer.model.question import Question
from services.scorer.policy.decide import Desk, decide, desk_of
from services.scorer.policy.deployed import deploy
from services.scorer.policy.heads import predict

WIDTH = 4


def entry(model_id: str, **keys: object) -> dict[str, object]:
    """Return a catalog entry; ``price`` is input and output rate, ``providers`` its bindings."""
    price = keys.pop("price", (1.0, 2.0))
    providers = keys.pop("providers", ("acme",))
    assert isinstance(price, tuple)
    assert isinstance(providers, tuple)
    bindings = [
        {"provider": name, "input_usd_per_mtok": price[0], "output_usd_per_mtok": price[1]}
        for name in providers
    ]
    return {"id": model_id, "tier": "mid", "bindings": bindings, **keys}


def catalog(*entries: dict[str, object]) -> Catalog:
    """Return the catalog of some entries."""
    return build_catalog([{"models": list(entries)}])


def artifact(
    cells: list[list[float]],
    models: tuple[str, ...],
    *,
    curve: Curve | None = None,
    knobs: ArtifactKnobs | None = None,
    temperature: float | None = 0.1,
    axes: dict[str, Axes] | None = None,
    top_p: int = 2,
) -> Artifact:
    """Return an artifact whose cluster ``k`` lies along axis ``k``."""
    count = len(cells)
    quality = np.array(cells)
    return Artifact(
        version="v1",
        digest="0" * 64,
        embedder=EmbedderRecipe("test", WIDTH, 1_024, "", np.zeros(WIDTH)),
        measured=models,
        aliases={model: m for m, model in enumerate(models)},
        means=quality.mean(axis=0),
        clusters=ClusterHead(np.eye(WIDTH)[:count], quality, top_p, temperature),
        knobs=knobs or ArtifactKnobs((0.53,) * count, (0.0,) * count),
        curve=curve,
        axes=axes or {},
    )


def curve(count: int, skills: Floats | None = None, weight: float = -0.1) -> Curve:
    """Return a curve that reads every measured model alike."""
    return Curve(
        base=0.4,
        weights=np.full(count, weight),
        slope=0.3,
        skills=np.linspace(0.3, 0.8, count) if skills is None else skills,
    )


def text(*joint: float) -> TextVector:
    """Return the vector of a text that points there."""
    padded = np.zeros(WIDTH)
    padded[: len(joint)] = joint
    return TextVector(padded, NO_PIECES, 0.0, 10)


def desk(made: Artifact, models: Catalog, risk_price_usd: float = 0.1) -> Desk:
    """Return the desk of an artifact over a catalog."""
    return desk_of(made, deploy(models, made), risk_price_usd)


def decided(at: Desk, vector: TextVector, question: Question) -> Decision:
    """Return the decision, which must not be a refusal."""
    answer = decide(at, predict(at.artifact, vector), question)
    assert isinstance(answer, Decision), answer
    return answer
