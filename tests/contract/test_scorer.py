"""ScorerService over every transport."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import grpc
import pytest
from pointsman.common.v1 import action_pb2, binding_pb2, eligibility_pb2
from pointsman.scorer.v1 import scorer_pb2 as pb
from pointsman.scorer.v1 import scorer_pb2_grpc as rpc
from structlog.testing import capture_logs

from services.domain.catalog import Catalog
from services.domain.errors import InvalidRequestError, Reason, RouterError
from services.runtime import status
from services.runtime.channel import Channel
from services.runtime.host import Bundle
from services.runtime.launch import StartError
from services.runtime.reloading import Edition
from services.runtime.settings import CommonSettings
from services.scorer.build import build
from services.scorer.settings import ScorerSettings
from tests.contract.transports import Serve
from tests.fakes import scorer_bundle as tiny
from tests.fakes.clock import FakeClock
from tests.unit.scorer import worlds

DEADLINE_S = 5.0
SECRET_TEXT = "prove the SENTINEL theorem"
CATALOG = worlds.catalog(
    worlds.entry("cheap", tier="low", price=(0.1, 0.4), providers=("acme", "other")),
    worlds.entry("dear", tier="top", price=(5.0, 25.0), scored_as="large_bench"),
    worlds.entry(
        "small",
        price=(1.0, 5.0),
        tool_use="low",
        image_input=False,
        long_context_price={
            "above_tokens": 200_000,
            "input_usd_per_mtok": 2.0,
            "output_usd_per_mtok": 7.5,
        },
    ),
)


def no_peer(name: str) -> Channel:
    raise AssertionError(f"the scorer calls nobody, least of all {name}")


def scorer(
    folder: Path,
    files: dict[str, bytes] | None = None,
    catalog: Catalog = CATALOG,
    **settings: object,
) -> Bundle:
    tiny.write(folder, files or tiny.with_heads(tiny.members()))
    return build(
        ScorerSettings.model_validate({"artifacts": str(folder), **settings}),
        CommonSettings(),
        catalog=catalog,
        clock=FakeClock(),
        channel_to=no_peer,
    )


def request() -> pb.ScoreRequest:
    return pb.ScoreRequest(
        action=action_pb2.ActionContext(
            action_id="a-1", installation_id="i-1", session_key=bytes(range(16))
        ),
        features=action_pb2.RequestFeatures(input_token_count=1_000),
        eligibility=eligibility_pb2.EligibilityRecord(
            record_id="r-1", installation_id="i-1", config_version="cfg-1"
        ),
        prompt=pb.PromptText(text=SECRET_TEXT),
        strategy="cluster",
        mode=pb.SCORE_MODE_ACTING,
    )


async def stub_of(serve: Serve, bundle: Bundle) -> rpc.ScorerServiceAsyncStub:
    return rpc.ScorerServiceStub((await serve(bundle)).channel("gateway"))


async def called(
    stub: rpc.ScorerServiceAsyncStub, asked: pb.ScoreRequest | pb.ListCandidatesRequest
) -> None:
    if isinstance(asked, pb.ScoreRequest):
        await stub.Score(asked, timeout=DEADLINE_S)
    else:
        await stub.ListCandidates(asked, timeout=DEADLINE_S)


async def refused(
    stub: rpc.ScorerServiceAsyncStub, asked: pb.ScoreRequest | pb.ListCandidatesRequest
) -> RouterError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await called(stub, asked)
    return status.error_of(caught.value)


@pytest.mark.spec("SCO-16", "SCO-32", "SCO-66")
async def test_an_answer_states_the_pick_and_everything_it_rests_on(
    serve: Serve, tmp_path: Path
) -> None:
    asked = request()
    asked.wants_explanation = asked.wants_embedding = True
    asked.knobs.effort = "high"
    answer = await (await stub_of(serve, scorer(tmp_path))).Score(asked, timeout=DEADLINE_S)
    order = [candidate.binding.model_id for candidate in answer.candidates]
    assert sorted(order) == ["cheap", "dear", "small"]
    assert answer.pick == answer.candidates[0]
    assert answer.runner_up == answer.candidates[1]
    assert answer.pick.effort == "high"
    found = {candidate.binding.model_id: candidate for candidate in answer.candidates}
    assert found["cheap"].evidence == pb.EVIDENCE_SOURCE_ESTIMATED
    assert found["dear"].evidence == pb.EVIDENCE_SOURCE_BORROWED
    assert found["dear"].scored_as == "large"
    assert found["small"].evidence == pb.EVIDENCE_SOURCE_MEASURED
    assert found["dear"].tier == binding_pb2.MODEL_TIER_TOP
    assert found["dear"].expected_cost_micro_usd == 1_000 * 5 + 500 * 25
    for candidate in answer.candidates:
        assert candidate.risk_ratio == pytest.approx(1 - candidate.terms.quality_ratio)
    assert answer.propensity_ratio == 1.0
    assert len(answer.embedding) == tiny.DIMENSIONS
    assert len(answer.cluster_ids) == len(answer.cache_similarity_ratios) == 2
    assert set(answer.cache_similarity_ratios) == {0.95}
    assert (answer.knobs.risk_price_micro_usd, len(answer.knobs.knobs_hash)) == (100_000, 16)
    assert answer.evidence.embedded_bytes == len(SECRET_TEXT)
    assert 0 < answer.evidence.unknown_token_ratio < 1
    assert answer.reason.startswith(f"cluster:{tiny.VERSION}:")
    versions = answer.versions
    assert (versions.artifact_version, versions.eligibility_id) == (tiny.VERSION, "r-1")
    assert (len(versions.artifact_digest), versions.config_version) == (64, "cfg-1")
    assert versions.catalog_version == CATALOG.version


async def test_equal_requests_have_equal_answers_and_the_second_is_not_embedded_again(
    serve: Serve, tmp_path: Path
) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    first = await stub.Score(request(), timeout=DEADLINE_S)
    second = await stub.Score(request(), timeout=DEADLINE_S)
    seen = (first.evidence.is_embedding_cached, second.evidence.is_embedding_cached)
    assert seen == (False, True)
    second.evidence.is_embedding_cached = False
    assert first == second
    assert not first.pick.HasField("terms")
    assert len(first.embedding) == 0


async def test_the_record_is_obeyed_and_every_drop_is_named(serve: Serve, tmp_path: Path) -> None:
    asked = request()
    asked.features.tool_count = 1
    record = asked.eligibility
    record.excluded_models.add(
        model_id="dear", layer=eligibility_pb2.EXCLUSION_LAYER_MODEL_EXCLUDED
    )
    record.excluded_bindings.add(
        model_id="cheap", provider="acme", layer=eligibility_pb2.EXCLUSION_LAYER_CONTEXT_WINDOW
    )
    answer = await (await stub_of(serve, scorer(tmp_path))).Score(asked, timeout=DEADLINE_S)
    assert answer.pick.binding == binding_pb2.BindingRef(
        model_id="cheap", provider="other", upstream_id="cheap", binding_index=1
    )
    assert not answer.HasField("runner_up")
    assert list(answer.dropped) == [
        pb.DroppedCandidate(
            model_id="dear",
            filter=pb.CANDIDATE_FILTER_EXCLUDED,
            layer=eligibility_pb2.EXCLUSION_LAYER_MODEL_EXCLUDED,
        ),
        pb.DroppedCandidate(model_id="small", filter=pb.CANDIDATE_FILTER_TOOL_USE),
    ]
    assert [report.filter for report in answer.filters] == [
        pb.CANDIDATE_FILTER_PROVIDER,
        pb.CANDIDATE_FILTER_EXCLUDED,
        pb.CANDIDATE_FILTER_REQUIREMENT,
        pb.CANDIDATE_FILTER_AUTOMATIC,
        pb.CANDIDATE_FILTER_TOOL_USE,
        pb.CANDIDATE_FILTER_AGENTIC,
    ]


async def test_what_is_known_of_a_record_answers_for_no_other(serve: Serve, tmp_path: Path) -> None:
    """Records are known again by their contents: a name that stands for two would mix them."""
    stub = await stub_of(serve, scorer(tmp_path))
    plain, without, tools, images = request(), request(), request(), request()
    without.eligibility.excluded_models.add(
        model_id="dear", layer=eligibility_pb2.EXCLUSION_LAYER_OPERATOR
    )
    tools.features.tool_count = 1
    images.features.image_count = 1
    wanted: tuple[tuple[pb.ScoreRequest, list[str]], ...]
    wanted = ((plain, []), (without, ["dear"]), (tools, ["small"]), (images, ["small"]))
    for _ in range(2):
        for asked, dropped in wanted:
            asked.eligibility.create_time.seconds += 1
            answer = await stub.Score(asked, timeout=DEADLINE_S)
            assert [drop.model_id for drop in answer.dropped] == dropped


async def test_a_brief_answer_is_the_whole_one_without_its_grounds(
    serve: Serve, tmp_path: Path
) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    asked = request()
    asked.features.tool_count = 1
    whole = await stub.Score(asked, timeout=DEADLINE_S)
    asked.is_brief = True
    brief = await stub.Score(asked, timeout=DEADLINE_S)
    for field in ("runner_up", "dropped", "filters", "evidence", "timing"):
        assert getattr(whole, field)
        whole.ClearField(field)
    assert brief == whole
    asked.wants_explanation = True
    assert (await stub.Score(asked, timeout=DEADLINE_S)).dropped


async def test_without_risk_the_blend_decides_and_models_without_figures_are_named(
    serve: Serve, tmp_path: Path
) -> None:
    asked = request()
    asked.knobs.quality_bias_ratio = 1.0
    stub = await stub_of(serve, scorer(tmp_path, tiny.members(has_risk=False)))
    answer = await stub.Score(asked, timeout=DEADLINE_S)
    assert answer.pick.binding.model_id == "dear"
    assert not answer.pick.HasField("risk_ratio")
    assert list(answer.knobs.alpha_ratios) == [1.0, 1.0, 1.0]
    unmeasured = pb.DroppedCandidate(model_id="cheap", filter=pb.CANDIDATE_FILTER_UNMEASURED)
    assert unmeasured in answer.dropped


Change = Callable[[pb.ScoreRequest], object]
BAD: dict[str, Change] = {
    "action": lambda asked: asked.ClearField("action"),
    "action.action_id": lambda asked: asked.action.ClearField("action_id"),
    "action.session_key": lambda asked: setattr(asked.action, "session_key", b"short"),
    "action.installation_id": lambda asked: asked.action.ClearField("installation_id"),
    "features": lambda asked: asked.ClearField("features"),
    "features.input_token_count": lambda asked: setattr(asked.features, "input_token_count", -1),
    "eligibility": lambda asked: asked.ClearField("eligibility"),
    "eligibility.installation_id": lambda asked: setattr(
        asked.eligibility, "installation_id", "i-2"
    ),
    "eligibility.excluded_models[0].layer": lambda asked: asked.eligibility.excluded_models.add(
        model_id="dear"
    ),
    "eligibility.gateway_aliases[0].provider": lambda asked: (
        asked.eligibility.gateway_aliases.add()
    ),
    "strategy": lambda asked: setattr(asked, "strategy", "elsewhere"),
    "mode": lambda asked: asked.ClearField("mode"),
    "prompt": lambda asked: asked.ClearField("prompt"),
    "cost_factors['dear']": lambda asked: asked.cost_factors.update({"dear": 1.5}),
}
BAD_KNOBS: dict[str, float] = {
    "alpha_ratio": 1.1,
    "quality_bias_ratio": float("nan"),
    "speed_weight_ratio": -0.1,
    "output_cost_multiplier": 10.1,
    "expected_output_token_count": 100_001,
    "risk_price_micro_usd": -1,
}


async def test_a_field_out_of_range_is_refused_by_name(serve: Serve, tmp_path: Path) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    for field, change in BAD.items():
        asked = request()
        change(asked)
        error = await refused(stub, asked)
        assert isinstance(error, InvalidRequestError), field
        assert [violation.field for violation in error.violations] == [field]
    for name, value in BAD_KNOBS.items():
        asked = request()
        setattr(asked.knobs, name, value)
        error = await refused(stub, asked)
        assert error.reason is Reason.INVALID_ROUTING_KNOBS, name
        assert error.metadata["field"] == f"knobs.{name}"


async def test_nothing_that_may_serve_is_an_error_with_its_cause(
    serve: Serve, tmp_path: Path
) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    asked = request()
    asked.eligibility.enabled_providers.SetInParent()
    assert (await refused(stub, asked)).reason is Reason.NO_ELIGIBLE_PROVIDER
    asked = request()
    asked.eligibility.forced.cluster_label = "math"
    error = await refused(stub, asked)
    assert error.reason is Reason.FORCED_CLUSTER_UNSUPPORTED_STRATEGY


async def test_values_of_a_later_contract_are_read_as_the_safe_ones(
    serve: Serve, tmp_path: Path
) -> None:
    asked = request()
    asked.mode = 99  # type: ignore[assignment]  # a number that nobody knows yet
    asked.eligibility.excluded_models.add(
        model_id="dear",
        layer=99,
    )
    answer = await (await stub_of(serve, scorer(tmp_path))).Score(asked, timeout=DEADLINE_S)
    assert [drop.model_id for drop in answer.dropped] == ["dear"]


@pytest.mark.spec("SCO-19")
async def test_a_version_that_is_not_loaded_serves_the_default_and_says_so(
    serve: Serve, tmp_path: Path
) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    asked = request()
    asked.artifact_version = "another"
    answer = await stub.Score(asked, timeout=DEADLINE_S)
    assert answer.versions.artifact_version == tiny.VERSION
    listing = pb.ListCandidatesRequest(
        artifact_version="another", order_by=pb.CANDIDATE_ORDER_MODEL
    )
    assert (await refused(stub, listing)).reason is Reason.ARTIFACT_NOT_FOUND


@pytest.mark.spec("SCO-39")
async def test_deployed_models_are_listed_by_page_and_order(serve: Serve, tmp_path: Path) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    asked = pb.ListCandidatesRequest(page_size=2, order_by=pb.CANDIDATE_ORDER_MODEL)
    first = await stub.ListCandidates(asked, timeout=DEADLINE_S)
    assert [model.binding.model_id for model in first.models] == ["cheap", "dear"]
    asked.page_token = first.next_page_token
    second = await stub.ListCandidates(asked, timeout=DEADLINE_S)
    assert [model.binding.model_id for model in second.models] == ["small"]
    assert second.next_page_token == ""
    price = second.models[0].price
    assert price.output_micro_usd_per_mtok == 5_000_000
    assert price.long_context.threshold_token_count == 200_000
    assert price.long_context.input_micro_usd_per_mtok == 2_000_000
    assert price.long_context.output_micro_usd_per_mtok == 7_500_000
    assert not first.models[0].price.HasField("long_context")
    assert second.models[0].tokens_per_second == 100.0
    assert first.models[0].skill_ratio == pytest.approx(0.32)
    fastest = pb.ListCandidatesRequest(order_by=pb.CANDIDATE_ORDER_SPEED)
    answer = await stub.ListCandidates(fastest, timeout=DEADLINE_S)
    assert [model.binding.model_id for model in answer.models] == ["small", "cheap", "dear"]
    for bad in (
        pb.ListCandidatesRequest(),
        pb.ListCandidatesRequest(order_by=pb.CANDIDATE_ORDER_MODEL, page_token="x"),
        pb.ListCandidatesRequest(order_by=pb.CANDIDATE_ORDER_MODEL, page_size=-1),
    ):
        assert (await refused(stub, bad)).reason is Reason.INVALID_REQUEST


async def test_a_list_says_what_removes_a_model_or_leaves_it_out(
    serve: Serve, tmp_path: Path
) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    asked = pb.ListCandidatesRequest(order_by=pb.CANDIDATE_ORDER_MODEL)
    asked.eligibility.excluded_models.add(
        model_id="dear", layer=eligibility_pb2.EXCLUSION_LAYER_OPERATOR
    )
    answer = await stub.ListCandidates(asked, timeout=DEADLINE_S)
    said = {model.binding.model_id: model.dropped_by for model in answer.models}
    assert said["dear"] == pb.CANDIDATE_FILTER_EXCLUDED
    assert said["cheap"] == pb.CANDIDATE_FILTER_UNSPECIFIED
    asked.is_eligible_only = True
    answer = await stub.ListCandidates(asked, timeout=DEADLINE_S)
    assert [model.binding.model_id for model in answer.models] == ["cheap", "small"]
    asked.eligibility.enabled_providers.SetInParent()
    assert (await refused(stub, asked)).reason is Reason.NO_ELIGIBLE_PROVIDER


async def test_only_the_gateway_and_named_callers_may_ask(serve: Serve, tmp_path: Path) -> None:
    served = await serve(scorer(tmp_path, callers=("tuning",)))
    for caller in ("gateway", "tuning"):
        stub = rpc.ScorerServiceStub(served.channel(caller))
        await stub.Score(request(), timeout=DEADLINE_S)
    error = await refused(rpc.ScorerServiceStub(served.channel("dispatch")), request())
    assert error.reason is Reason.CALLER_NOT_ALLOWED


async def test_each_decision_is_one_line_without_content(serve: Serve, tmp_path: Path) -> None:
    stub = await stub_of(serve, scorer(tmp_path))
    with capture_logs() as lines:
        await stub.Score(request(), timeout=DEADLINE_S)
    (line,) = [line for line in lines if line["event"] == "score"]
    assert (line["action_id"], line["session_hash"]) == ("a-1", "0001020304050607")
    assert (line["candidates"], line["is_acting"]) == (3, True)
    assert "SENTINEL" not in repr(lines)


async def test_a_bundle_that_may_not_serve_stops_the_start(tmp_path: Path) -> None:
    damaged = tiny.members()
    damaged["centroids.bin"] = b"XXXX" + damaged["centroids.bin"][4:]
    with pytest.raises(StartError, match=r"artifact 'tiny-1', centroids\.bin"):
        await scorer(tmp_path / "damaged", damaged).start()
    silent = worlds.catalog(worlds.entry("m", tier="unknown"))
    with pytest.raises(StartError, match="no tiered model"):
        await scorer(tmp_path / "silent", catalog=silent).start()


async def test_it_is_ready_once_its_artifact_is_loaded(tmp_path: Path) -> None:
    bundle = scorer(tmp_path)
    assert bundle.readiness() == {"artifact": False}
    await bundle.start()
    assert bundle.readiness() == {"artifact": True}
    await bundle.aclose()


@pytest.mark.spec("SCO-64")
async def test_a_newer_catalog_is_that_of_later_calls(serve: Serve, tmp_path: Path) -> None:
    bundle = scorer(tmp_path)
    stub = await stub_of(serve, bundle)
    before = await stub.Score(request(), timeout=DEADLINE_S)
    newer = worlds.catalog(worlds.entry("other", price=(1.0, 5.0)))
    assert bundle.adopt is not None
    take_over = bundle.adopt(Edition(CommonSettings(), newer))
    assert await picks(stub) == {before.pick.binding.model_id}
    take_over()
    after = await stub.Score(request(), timeout=DEADLINE_S)
    assert after.pick.binding.model_id == "other"
    assert after.versions.catalog_version == newer.version == bundle.info()["catalog_version"]
    assert after.evidence.is_embedding_cached


async def picks(stub: rpc.ScorerServiceAsyncStub) -> set[str]:
    answer = await stub.Score(request(), timeout=DEADLINE_S)
    return {answer.pick.binding.model_id}


async def test_a_catalog_that_the_artifact_cannot_speak_for_is_refused(
    serve: Serve, tmp_path: Path
) -> None:
    bundle = scorer(tmp_path)
    stub = await stub_of(serve, bundle)
    assert bundle.adopt is not None
    with pytest.raises(StartError, match="has figures for no tiered model"):
        bundle.adopt(Edition(CommonSettings(), worlds.catalog()))
    assert (await stub.Score(request(), timeout=DEADLINE_S)).pick.binding.model_id
