"""Writes the list of deployed models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from google.protobuf import duration_pb2
from pointsman.scorer.v1 import scorer_pb2 as pb

from services.domain.pricing import list_price
from services.scorer.codec import enums
from services.scorer.codec.requests import Listing, page_token
from services.scorer.codec.responses import Identity, binding, versions

if TYPE_CHECKING:
    from services.domain.catalog import Model
    from services.domain.fields import Fields
    from services.scorer.policy.listing import Listed


def page(rows: Sequence[Listed], asked: Listing, identity: Identity) -> pb.ListCandidatesResponse:
    """Return the page that was asked for."""
    end = asked.start + asked.size
    return pb.ListCandidatesResponse(
        models=[_model(row) for row in rows[asked.start : end]],
        next_page_token=page_token(end) if end < len(rows) else "",
        versions=versions(identity, asked.eligibility),
    )


def _model(row: Listed) -> pb.DeployedModel:
    deployed, axes, dropped = row.deployed, row.axes, row.dropped
    skill = deployed.skill
    return pb.DeployedModel(
        binding=binding(row.binding),
        tier=enums.TIERS[deployed.model.tier],
        price=_price(deployed.model, row.binding.index),
        tokens_per_second=axes.tokens_per_s,
        first_token_latency=None if axes.first_token_s is None else _span(axes.first_token_s),
        evidence=enums.EVIDENCE[deployed.evidence],
        scored_as=deployed.scored_as,
        skill_ratio=None if skill is None else min(max(skill, 0.0), 1.0),
        dropped_by=None if dropped is None else enums.FILTERS[dropped.filter],
        layer=(None if dropped is None or dropped.layer is None else enums.LAYERS[dropped.layer]),
    )


def _price(model: Model, index: int) -> Fields:
    own = next((b for b in model.bindings if b.index == index), model.bindings[0])
    return list_price(own.price)


def _span(seconds: float) -> duration_pb2.Duration:
    span = duration_pb2.Duration()
    span.FromNanoseconds(round(seconds * 1e9))
    return span
