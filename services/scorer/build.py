"""Builds the scorer from its settings; starting it loads the artifact."""

from __future__ import annotations

import asyncio
import functools
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.scorer.v1 import scorer_pb2_grpc as rpc

from services.runtime import log
from services.runtime.host import Bundle
from services.runtime.launch import StartError
from services.scorer.adapters.bundle.loading import load
from services.scorer.model.fault import BundleError
from services.scorer.policy.decide import desk_of
from services.scorer.policy.deployed import deploy
from services.scorer.server.engine import Engine
from services.scorer.server.pool import EmbeddingPool
from services.scorer.server.servicer import ScorerServicer

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc

    from services.domain.catalog import Catalog
    from services.runtime.channel import ChannelTo
    from services.runtime.clock import Clock
    from services.runtime.reloading import Edition
    from services.runtime.settings import CommonSettings
    from services.scorer.model.artifact import Artifact
    from services.scorer.policy.decide import Desk
    from services.scorer.settings import ScorerSettings

FULL_NAME = "pointsman.scorer.v1.ScorerService"
CALLERS = frozenset({"gateway"})
"""Who may always call."""
METHODS = ("Score", "ListCandidates")

_log = log.get_logger("scorer")


class Slot:
    """Holds the engine once its artifact is loaded."""

    def __init__(self) -> None:
        self.engine: Engine | None = None

    @property
    def version(self) -> str:
        """The version of the catalog that it decides by; empty: nothing is loaded."""
        return self.engine.catalog_version if self.engine is not None else ""

    def put(self, engine: Engine | None) -> None:
        """Use another engine from now on."""
        self.engine = engine


def build(
    settings: ScorerSettings,
    common: CommonSettings,
    *,
    catalog: Catalog,
    clock: Clock,
    channel_to: ChannelTo,
) -> Bundle:
    """Return the service. It calls nobody and is ready once its artifact is loaded."""
    slot = Slot()
    servicer = ScorerServicer(lambda: slot.engine, clock)

    def attach(server: grpc.aio.Server) -> None:
        rpc.add_ScorerServiceServicer_to_server(servicer, server)

    async def start() -> None:
        slot.engine = await asyncio.to_thread(open_engine, settings, catalog, clock)

    def adopt(edition: Edition[CommonSettings]) -> Callable[[], None]:
        engine, newer = slot.engine, edition.catalog
        if engine is None:
            raise StartError("the scorer has no artifact yet")
        desk = _desk(engine.desk.artifact, newer, settings)
        return functools.partial(slot.put, engine.moved(desk, newer.version))

    async def aclose() -> None:
        if slot.engine is not None:
            slot.engine.close()
        slot.engine = None

    callers = CALLERS.union(settings.callers)
    return Bundle(
        full_name=FULL_NAME,
        attach=attach,
        start=start,
        aclose=aclose,
        allowed_callers={f"/{FULL_NAME}/{method}": callers for method in METHODS},
        readiness=lambda: {"artifact": slot.engine is not None},
        info=lambda: {"catalog_version": slot.version or catalog.version},
        adopt=adopt,
    )


def open_engine(settings: ScorerSettings, catalog: Catalog, clock: Clock) -> Engine:
    """Return the engine of the artifact that the settings name, warmed up.

    Raises:
        StartError: the bundle may not serve, or speaks for no model of the catalog.
    """
    folder = Path(settings.artifacts).expanduser() if settings.artifacts else shipped()
    try:
        encoder = Path(settings.encoder).expanduser() if settings.encoder else None
        loaded = load(folder, settings.artifact_version, encoder)
    except BundleError as error:
        raise StartError(f"services.scorer.artifacts: {error}") from None
    artifact = loaded.artifact
    desk = _desk(artifact, catalog, settings)
    _log.info(
        "artifact_loaded",
        version=artifact.version,
        digest=artifact.digest,
        embedder=artifact.embedder.name,
        models=len(desk.deployment.models),
        has_risk=artifact.has_risk,
    )
    if artifact.is_internal:
        _log.warning("artifact_not_for_release", version=artifact.version)
    pool = None
    if loaded.embedder.is_slow:
        limit_s = settings.embed_timeout_ms / 1_000
        pool = EmbeddingPool(loaded.embedder, settings.embed_workers, limit_s, clock)
    entries, version = settings.embedding_cache_entries, catalog.version
    return Engine(desk, loaded.embedder, entries, pool, catalog_version=version)


def _desk(artifact: Artifact, catalog: Catalog, settings: ScorerSettings) -> Desk:
    """Return the artifact's desk under a catalog.

    Raises:
        StartError: it speaks for no model of the catalog.
    """
    deployment = deploy(catalog, artifact)
    if not deployment.models:
        fault = f"artifact {artifact.version!r} has figures for no tiered model of the catalog"
        raise StartError(f"services.scorer.artifacts: {fault}")
    if deployment.unmeasured:
        _log.warning("models_without_figures", models=list(deployment.unmeasured))
    if deployment.unknown_lenders:
        _log.warning("scored_as_unknown", models=list(deployment.unknown_lenders))
    return desk_of(artifact, deployment, settings.risk_price_usd)


def shipped() -> Path:
    """Return the folder of the artifacts that ship with the product."""
    return Path(str(resources.files("services.scorer").joinpath("data")))
