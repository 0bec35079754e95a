"""Judges the models of a catalog for one action, layer by layer. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.eligibility.expressing import carries, is_expressible
from gateway.eligibility.windows import room_in, window_of
from gateway.model import BindingExclusion, Layer, ModelExclusion
from services.domain.copying import replace
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.requirements import RequirementMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.eligibility.model import Policy, Question
    from gateway.model import ProviderState
    from services.domain.catalog import Binding, Model
    from services.domain.wire.features import Requirement

_CODEX_PLAN = frozenset({CredentialKind.CODEX_OAUTH})


class Layers:
    """Judges models one by one and keeps the first reason against each."""

    def __init__(
        self,
        question: Question,
        policy: Policy,
        enabled: Sequence[ProviderState],
        *,
        is_exclusive: bool,
        waived: frozenset[Requirement] = frozenset(),
        has_reserve: bool = True,
    ) -> None:
        self._question = question
        self._has_reserve = has_reserve
        self._policy = policy
        self._waived = waived
        self._enabled = {state.provider for state in enabled}
        self._on_codex_plan = {s.provider for s in enabled if set(s.kinds) == _CODEX_PLAN}
        self._providers = self._enabled - (set() if is_exclusive else policy.excluded_providers)
        self._aliased: set[tuple[str, str]] | None = None
        self._refused: frozenset[tuple[str, str]] = frozenset()
        if question.snapshot is not None:
            self._refused = frozenset(question.snapshot.refused)
            if is_exclusive:
                self._aliased = {
                    (entry.provider, model_id)
                    for entry in question.snapshot.gateway_aliases
                    for model_id in entry.upstream_id_by_model
                }
        self.excluded: list[ModelExclusion] = []
        self.safety: list[ModelExclusion] = []
        self.requirement: list[ModelExclusion] = []
        self.bindings: list[BindingExclusion] = []
        self._serving: set[str] = set()

    def judge_all(self, models: Sequence[Model]) -> Layers:
        """Take note of what removes each of ``models``; returns itself."""
        for model in models:
            self.judge(model)
        return self

    def judge(self, model: Model) -> None:
        """Take note of what removes ``model`` or some of its bindings."""
        if model.id in self._policy.excluded_models:
            self.excluded.append(ModelExclusion(model.id, Layer.OPERATOR))
            return
        provided = [each for each in model.bindings if self._is_provided(each)]
        if not provided:
            self.excluded.append(ModelExclusion(model.id, self._absence(model)))
            return
        fitting = {each.index for each in model.bindings if self._fits(model, each)}
        if not fitting:
            self.safety.append(ModelExclusion(model.id, Layer.CONTEXT_WINDOW))
        elif not self._takes_media(model) or not any(
            self._is_expressible(model, binding) for binding in provided
        ):
            self.requirement.append(ModelExclusion(model.id, Layer.REQUIREMENT_INCOMPATIBLE))
        else:
            refused = self._judge_bindings(model, fitting)
            if any(binding.provider not in refused for binding in provided):
                self._serving.add(model.id)

    def _judge_bindings(self, model: Model, fitting: set[int]) -> set[str]:
        """Take note of what removes single bindings; returns their providers.

        ``fitting`` are the places of those whose window is large enough.
        """
        refused: set[str] = set()
        for binding in model.bindings:
            if (binding.provider, model.id) in self._refused:
                layer = Layer.ENDPOINT_REFUSED
            elif not self._is_paid_for(binding):
                layer = Layer.NO_CREDENTIAL
            elif binding.index not in fitting:
                layer = Layer.CONTEXT_WINDOW
            elif not self._is_expressible(model, binding):
                layer = Layer.REQUIREMENT_INCOMPATIBLE
            else:
                continue
            self.bindings.append(BindingExclusion(model.id, binding.provider, layer))
            refused.add(binding.provider)
        return refused

    def _absence(self, model: Model) -> Layer:
        """Return why no provider of ``model`` is there."""
        if self._aliased is not None:
            return Layer.GATEWAY_MODE
        paid = (binding for binding in model.bindings if self._is_paid_for(binding))
        if any(binding.provider in self._enabled for binding in paid):
            return Layer.PROVIDER_EXCLUDED
        return Layer.NO_CREDENTIAL

    def _is_provided(self, binding: Binding) -> bool:
        provider = binding.provider
        if provider not in self._providers or not self._is_paid_for(binding):
            return False
        return self._aliased is None or (provider, binding.model_id) in self._aliased

    def _is_paid_for(self, binding: Binding) -> bool:
        """Return whether what there is at a provider may pay for a binding: plans cover some."""
        return binding.is_in_codex_plan or binding.provider not in self._on_codex_plan

    def leaves_any_of(self, models: Sequence[Model]) -> bool:
        """Return whether any of ``models`` may serve, as far as was judged."""
        gone = {each.model_id for each in (*self.excluded, *self.safety, *self.requirement)}
        return any(model.id not in gone for model in models)

    def is_short_of_room(self, models: Sequence[Model]) -> bool:
        """Return whether none of ``models`` may serve, and some for the size of the prompt."""
        if any(model.id in self._serving for model in models):
            return False
        layers = {*(each.layer for each in self.safety), *(each.layer for each in self.bindings)}
        return Layer.CONTEXT_WINDOW in layers

    def tell_unavailable(self, models: Sequence[Model]) -> None:
        """Name the models without a provider here that would carry the request elsewhere."""
        if not self.requirement:
            return
        able = {m.id for m in models if carries(m, self._question.features) and self._is_able(m)}
        self.excluded = [
            replace(each, layer=Layer.REQUIREMENT_UNAVAILABLE)
            if each.layer is Layer.NO_CREDENTIAL and each.model_id in able
            else each
            for each in self.excluded
        ]

    def _takes_media(self, model: Model) -> bool:
        is_off = self._policy.requirements is RequirementMode.OFF
        return is_off or carries(model, self._question.features)

    def _is_able(self, model: Model) -> bool:
        return any(self._is_expressible(model, binding) for binding in model.bindings)

    def _is_expressible(self, model: Model, binding: Binding) -> bool:
        targets = self._policy.dialects_at(binding, is_gateway=self._aliased is not None)
        is_off = self._policy.requirements is RequirementMode.OFF
        if not targets or not self._question.features.requirements or is_off:
            return True
        question, mode = self._question, self._policy.requirements
        return any(
            is_expressible(question.features, question.family, model, target, mode, self._waived)
            for target in targets
        )

    def _fits(self, model: Model, binding: Binding) -> bool:
        """Return whether the prompt leaves the answer its room.

        Other dialects than Messages never receive its signed reasoning.
        """
        features = self._question.features
        is_long_asked = self._question.is_long_context_asked
        tokens, signed = features.overflow_tokens, features.signature_tokens
        window = window_of(binding, model.facts, is_long_asked=is_long_asked)
        if signed and WireFamily.ANTHROPIC not in self._policy.dialects_at(binding):
            tokens -= signed
        room = room_in(window, features.max_output_tokens) if self._has_reserve else window
        return tokens <= room
