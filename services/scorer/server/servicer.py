"""The servicer: decode, embed, decide, encode, one line in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pointsman.scorer.v1 import scorer_pb2 as pb
from pointsman.scorer.v1 import scorer_pb2_grpc as rpc

from services.domain.errors import Reason, RouterError
from services.domain.fields import micro_usd
from services.runtime import host, log
from services.scorer.codec import listings, requests, responses
from services.scorer.codec.responses import Identity, Watch
from services.scorer.model.decision import Refusal
from services.scorer.policy.knobs import is_extreme
from services.scorer.policy.listing import listed

if TYPE_CHECKING:
    from collections.abc import Callable

    import grpc

    from services.runtime.clock import Clock
    from services.scorer.codec.requests import Asked
    from services.scorer.model.artifact import TextVector
    from services.scorer.model.decision import Decision
    from services.scorer.server.engine import Engine

_log = log.get_logger("scorer")


class ScorerServicer(rpc.ScorerServiceServicer):
    """Serves ScorerService. Between calls it holds the artifact and a cache of vectors."""

    def __init__(self, engine: Callable[[], Engine | None], clock: Clock) -> None:
        self._find_engine = engine
        self._clock = clock

    async def Score(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.ScoreRequest,
        context: grpc.aio.ServicerContext[pb.ScoreRequest, pb.ScoreResponse],
    ) -> pb.ScoreResponse:
        """Score the models that may serve an action and pick one."""
        engine = self._engine()
        asked = requests.asked(request)
        if asked.question.eligibility.forced_cluster:
            raise RouterError(
                Reason.FORCED_CLUSTER_UNSUPPORTED_STRATEGY,
                "the strategy cluster has no groups that a caller may force",
            )
        start_s = self._clock.monotonic_s()
        read, is_cached = await engine.read(asked.text, context.time_remaining())
        embedded_s = self._clock.monotonic_s()
        decision = engine.decide(read, asked.question)
        if isinstance(decision, Refusal):
            raise responses.error_of(decision)
        scored_s = self._clock.monotonic_s()
        watch = Watch(embedded_s - start_s, scored_s - embedded_s, is_cached)
        identity = self._identity(engine)
        unmeasured = engine.desk.deployment.unmeasured
        answer = responses.scored(decision, asked, read.vector, identity, watch, unmeasured)
        facts = self._facts(decision, asked, read.vector, identity, watch)
        _log.info("score", reason=answer.reason, **facts)
        return answer

    async def ListCandidates(  # noqa: N802 - name fixed by the proto
        self,
        request: pb.ListCandidatesRequest,
        context: grpc.aio.ServicerContext[pb.ListCandidatesRequest, pb.ListCandidatesResponse],
    ) -> pb.ListCandidatesResponse:
        """List the deployed models and say which of them are eligible."""
        engine = self._engine()
        asked = requests.listing(request)
        artifact = engine.desk.artifact
        if asked.artifact_version not in ("", artifact.version):
            raise RouterError(
                Reason.ARTIFACT_NOT_FOUND,
                f"artifact {asked.artifact_version!r} is not loaded; {artifact.version!r} is",
                metadata={"artifact_version": asked.artifact_version},
            )
        rows = listed(
            artifact,
            engine.desk.deployment,
            asked.features,
            asked.eligibility,
            asked.order,
            is_eligible_only=asked.is_eligible_only,
        )
        if isinstance(rows, Refusal):
            raise responses.error_of(rows)
        return listings.page(rows, asked, self._identity(engine))

    def _engine(self) -> Engine:
        engine = self._find_engine()
        if engine is None:
            raise RouterError(Reason.ARTIFACT_NOT_LOADED, "no artifact is loaded yet")
        return engine

    def _identity(self, engine: Engine) -> Identity:
        artifact = engine.desk.artifact
        return Identity(host.VERSION, engine.catalog_version, artifact.version, artifact.digest)

    def _facts(
        self,
        decision: Decision,
        asked: Asked,
        vector: TextVector,
        identity: Identity,
        watch: Watch,
    ) -> dict[str, str | int | float | bool | None]:
        pick, eligibility = decision.pick, asked.question.eligibility
        return {
            "model": pick.binding.model_id,
            "provider": pick.binding.provider,
            "evidence": pick.deployed.evidence.value,
            "risk": None if pick.risk is None else round(pick.risk, 4),
            "cost_micro_usd": micro_usd(pick.cost_usd),
            "candidates": len(decision.candidates),
            "dropped": len(decision.pool.dropped),
            "is_acting": asked.is_acting,
            "is_far": decision.is_far,
            "unknown_share": round(vector.unknown_share, 4),
            "is_embedding_cached": watch.is_cached,
            "embed_ms": round(1_000 * watch.embed_s, 3),
            "score_ms": round(1_000 * watch.score_s, 3),
            "knobs_hash": decision.knobs.hash,
            "is_knob_extreme": is_extreme(asked.question.knobs, decision.knobs),
            "artifact_version": identity.artifact_version,
            "is_version_as_asked": asked.artifact_version in ("", identity.artifact_version),
            "is_own_catalog": eligibility.catalog_version == identity.catalog_version,
            "eligibility_id": eligibility.record_id,
            "action_id": asked.action_id,
            "session_hash": asked.session_hash,
        }
