"""Drafts the request of one attempt: dialect, body, address and headers, each time anew."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from services.dispatch.model.outcome import AttemptFault, Fault
from services.dispatch.policy import address, headers
from services.dispatch.policy.body import catalog_binding, target_of, upstream_id_of
from services.dispatch.policy.dialect import (
    Speaker,
    codex_levels,
    dialect_for,
    host_of,
    is_bound_to_responses,
)
from services.dispatch.policy.fast import FAST_BETA, ServedTier, is_fast, with_fast
from services.dispatch.policy.lessons import FAST_TIER, RESPONSES_API, lesson_of
from services.dispatch.policy.measure import is_long_talk
from services.dispatch.policy.patience import header_wait_s
from services.dispatch.ports import UpstreamRequest
from services.domain.catalog import ModelFacts
from services.domain.vocab import CredentialKind, FailureClass, WireFamily
from services.domain.wire.anthropic.betas import betas_for
from services.domain.wire.model import UnbuildableError

if TYPE_CHECKING:
    from collections.abc import Callable

    from services.dispatch.model.access import Access
    from services.dispatch.model.plan import HeaderPairs, Order, PlannedBinding
    from services.dispatch.policy.body import ClientBody
    from services.dispatch.policy.lessons import Lesson
    from services.dispatch.server.target import Stage
    from services.domain.wire.model import EncodedRequest, Target, Transform, UpstreamError

MAX_LESSONS = 3
"""Features that one attempt may give up, one after the other."""


@dataclass(frozen=True, slots=True)
class Built:
    """A request that is ready to be sent."""

    request: UpstreamRequest
    transforms: tuple[Transform, ...]
    secret: str = field(default="", repr=False)
    """What authenticates it: never shown, even when the upstream echoes it."""


class Draft:
    """The request of one attempt, less what its endpoint is known to refuse; mutable."""

    def __init__(
        self,
        stage: Stage,
        order: Order,
        client_body: ClientBody,
        planned: PlannedBinding,
        family: WireFamily,
        access: Access,
        *,
        time_left_s: Callable[[], float | None],
    ) -> None:
        self._stage = stage
        self._order = order
        self._client_body = client_body
        self._planned = planned
        self._family: WireFamily | None = None
        self._access = access
        self._time_left_s = time_left_s
        self._endpoint = stage.endpoints[planned.ref.provider]
        self._speaker = self._speaker_at(family)
        self._base_url = self._base_url_for(access)
        granted = access.grant.binding.upstream_id
        self._upstream_id = upstream_id_of(stage.catalog, planned.ref, granted)
        """Its name there; memos go by it, so that an alias that is edited leaves them behind."""
        self._place = (self._base_url, self._upstream_id)
        self._tenant = order.action.installation_id
        self._given_up = stage.memos.given_up(*self._place, self._tenant)
        self._lessons: tuple[Lesson, ...] = ()
        self._body = b""
        self._tier: ServedTier | None = None

    @property
    def family(self) -> WireFamily:
        """The dialect to speak.

        Raises:
            InvalidRequestError: the client's body is unreadable.
        """
        if self._family is None:
            model = self._stage.catalog.models.get(self._planned.ref.model_id)
            self._family = dialect_for(
                self._client_body.request,
                model.facts if model else ModelFacts(),
                self._speaker,
                is_responses_refused=RESPONSES_API in self._given_up,
            )
        return self._family

    @property
    def is_stream_wanted(self) -> bool:
        """Whether the client wants a stream."""
        return self._client_body.request.is_stream

    @property
    def is_stream(self) -> bool:
        """Whether a stream is asked for: of Responses always, for a client of another dialect."""
        is_foreign = self.family is not self._client_body.family
        is_always = is_foreign and self.family is WireFamily.OPENAI_RESPONSES
        return is_always or self.is_stream_wanted

    @property
    def is_fast(self) -> bool:
        """Whether what was built last asks for the fast tier, and nothing says that it got less."""
        return self._tier is not None and self._tier.is_fast

    def saw(self, data: bytes) -> None:
        """Take note of bytes of the answer."""
        if self._tier is not None:
            self._tier.saw(data)

    @property
    def dropped_feature(self) -> str:
        """The feature given up last in this attempt; empty: none."""
        return self._lessons[-1].feature if self._lessons else ""

    def build(self) -> Built:
        """Return the request.

        Raises:
            AttemptFault: UNBUILDABLE; the target cannot express the request.
            RouterError: TARGET_MISMATCH, or the client's body is unreadable.
        """
        target, family = self._target(), self.family
        encoded = self._encoded(target)
        self._body = self._tiered(encoded.body)
        access, order, is_stream = self._access, self._order, self.is_stream
        request = UpstreamRequest(
            provider=self._endpoint.name,
            url=address.answer_url(
                self._base_url, family, upstream_id=target.upstream_id, is_stream=is_stream
            ),
            headers=headers.for_upstream(
                family,
                access.auth,
                order.relayed_headers,
                is_same_family=family is order.family,
                is_stream=is_stream,
                betas=self._betas(target, encoded.body),
            )
            + self._affinity(),
            body=self._body,
            header_timeout_s=header_wait_s(
                self._endpoint.header_timeout_s,
                is_stream=is_stream,
                max_output_tokens=order.max_output_tokens,
                time_left_s=self._time_left_s(),
            ),
            proxy_url=access.proxy_url,
            is_address_checked=access.is_tenant_given,
        )
        return Built(request, encoded.transforms, access.auth.secret)

    def _encoded(self, target: Target) -> EncodedRequest:
        try:
            return self._client_body.build(target)
        except UnbuildableError as error:
            raise AttemptFault(Fault(FailureClass.UNBUILDABLE, message=str(error))) from None

    def gives_up(self, status: int, error: UpstreamError) -> bool:
        """Return whether a refusal is worth another send, now without what it named.

        A body that cannot do without it, and would be the same again, is not.
        """
        if len(self._lessons) >= MAX_LESSONS:
            return False
        lesson = lesson_of(self.family, status, error, self._given_up, self._body)
        if lesson is None or (lesson.feature == RESPONSES_API and self._is_bound_to_responses):
            return False
        family, given_up = self.family, self._given_up
        self._family, self._given_up = None, given_up | {lesson.feature}
        if self.family is family and self._is_same_again():
            self._given_up = given_up
            return False
        self._lessons = (*self._lessons, lesson)
        return True

    def _is_same_again(self) -> bool:
        """Return whether the request would be built as it was sent, or not at all."""
        try:
            return self._tiered(self._encoded(self._target()).body) == self._body
        except AttemptFault:
            return True

    def confirm(self) -> None:
        """Keep what was learned: the endpoint took the request without it."""
        for lesson in self._lessons:
            self._stage.memos.learn(*self._place, lesson, self._tenant)

    def _speaker_at(self, family: WireFamily) -> Speaker:
        kind, endpoint = self._access.grant.attribution.kind, self._endpoint
        is_dual, is_original = endpoint.is_dual, endpoint.is_original
        return Speaker(
            family,
            host_of(endpoint.family, family, kind, is_dual=is_dual, is_original=is_original),
            is_dual=is_dual,
            is_codex_plan=kind is CredentialKind.CODEX_OAUTH,
            is_broad=self._stage.is_responses_broad,
        )

    def _base_url_for(self, access: Access) -> str:
        own = access.base_url
        if not own and self._speaker.is_codex_plan:
            own = self._endpoint.codex_base_url
        return (own or self._endpoint.base_url).rstrip("/")

    @property
    def _is_bound_to_responses(self) -> bool:
        return self._speaker.is_codex_plan or is_bound_to_responses(self._client_body.request)

    def _tiered(self, body: bytes) -> bytes:
        """Return the body, asking for the fast tier where that is wanted and there is one."""
        ref, stage, kind = self._planned.ref, self._stage, self._access.grant.attribution.kind
        self._tier = None
        is_wanted = self._planned.is_fast_allowed or ref.model_id in stage.fast_models
        if not is_wanted or FAST_TIER in self._given_up:
            return body
        row = catalog_binding(stage.catalog, ref)
        has_tier = is_fast(row, kind, is_vendor=self._endpoint.is_vendor)
        fast = with_fast(body, self.family) if has_tier else None
        if fast is None:
            return body
        self._tier = ServedTier(self.family, is_stream=self.is_stream)
        return fast

    def _betas(self, target: Target, body: bytes) -> tuple[str, ...]:
        """Return what a client of the same dialect asked for, and what the body needs.

        None of it that is not for the target.
        """
        order = self._order
        if self.family is not WireFamily.ANTHROPIC:
            return ()
        is_same_family = self.family is order.family
        told = headers.beta_tokens(order.relayed_headers) if is_same_family else ()
        fast = (FAST_BETA,) if self.is_fast else ()
        is_long = is_long_talk(order.estimated_input_tokens, order.max_output_tokens)
        return betas_for((*told, *fast), target.facts, body, is_long_context_needed=is_long)

    def _affinity(self) -> HeaderPairs:
        return headers.affinity(
            self._endpoint.name,
            self.family,
            self._order.plan.affinity_key,
            is_vendor=self._endpoint.is_vendor,
            is_gateway=self._access.grant.attribution.kind is CredentialKind.GATEWAY,
        )

    def _target(self) -> Target:
        plan, ref = self._order.plan, self._planned.ref
        target = target_of(
            self._stage.catalog,
            ref,
            self.family,
            granted_upstream_id=self._upstream_id,
            is_vendor=self._endpoint.is_vendor,
            is_model_switched=plan.is_model_switched
            or ref.model_id != plan.bindings[0].ref.model_id,
            affinity_key=plan.affinity_key,
            effort=self._planned.effort,
            rules=self._stage.rules,
        )
        facts, refused = target.facts, self._given_up - {RESPONSES_API, FAST_TIER}
        if refused:
            facts = replace(facts, refused_parameters=facts.refused_parameters | refused)
        if self._speaker.is_codex_plan:
            facts = replace(facts, reasoning_levels=codex_levels(facts))
        return target if facts is target.facts else replace(target, facts=facts)
