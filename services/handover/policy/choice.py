"""Whether a summary is worth its price, and who may write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.vocab import CredentialOwner
from services.domain.wire.features import TOKENS_PER_IMAGE
from services.domain.wire.model import Media, ToolResult
from services.handover.model import Outcome, Scope, SummaryKind
from services.handover.policy.history import raw_size
from services.handover.policy.rewrite import has_prompt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from services.domain.wire.model import Block, Turn
    from services.handover.model import BindingRef, Permit, Summarizer
    from services.handover.policy.history import History, Message

WORTHWHILE_RATIO = 4
"""A history of less than so many times the summary's limit costs more to summarise than to send."""
MARGIN_TOKENS = 2000
"""Room in the summariser's window for what the estimate misses."""


def skip_reason(
    history: History, turns: Sequence[Turn], kind: SummaryKind, cap_tokens: int, *, is_trimmed: bool
) -> Outcome | None:
    """Return why no summary is made of ``turns``, all that is before the last run; None: go on.

    A client that cut its own history has bounded its cost already. Without a person's words there
    is no request to go on with, and an assistant's last message is one to be continued in place.
    """
    count = history.last_run()
    if is_trimmed and kind is SummaryKind.SWITCH:
        return Outcome.TOO_SMALL
    if not any(message.is_asking for message in history.spoken):
        return Outcome.NO_USER_MESSAGE
    if count == len(history.spoken):
        return Outcome.FAILED
    if not has_prompt(history):
        return Outcome.NO_USER_MESSAGE
    if prior_tokens(history.spoken[:count], turns) < WORTHWHILE_RATIO * cap_tokens:
        return Outcome.TOO_SMALL
    return None


def prior_tokens(messages: Sequence[Message], turns: Iterable[Turn]) -> int:
    """Return the estimate of messages in tokens: a quarter of their size, and 1,600 per image."""
    images = [block for block in _blocks(turns) if isinstance(block, Media)]
    encoded = sum(len(image.data) for image in images)
    shown = sum(image.kind == "image" for image in images)
    return max(0, raw_size(messages) - encoded) // 4 + TOKENS_PER_IMAGE * shown


def permitted(summarizers: Iterable[Summarizer], permit: Permit) -> tuple[Summarizer, ...]:
    """Return the summarisers that the eligibility record lets serve, in their order."""
    return tuple(one for one in summarizers if is_permitted(permit, one.binding))


def is_permitted(permit: Permit, binding: BindingRef) -> bool:
    """Return whether the record lets a binding serve.

    While the record is gateway-exclusive only the tenant's own endpoints count, and provider
    exclusions do not.
    """
    model_id, provider = binding.model_id, binding.provider
    if model_id in permit.excluded_models or (model_id, provider) in permit.excluded_bindings:
        return False
    if permit.is_gateway_exclusive:
        return model_id in permit.gateway_models.get(provider, frozenset())
    if provider in permit.excluded_providers:
        return False
    return permit.providers is None or provider in permit.providers


def within_boundary(
    summarizers: Iterable[Summarizer], permit: Permit, scope: Scope
) -> tuple[Summarizer, ...]:
    """Return the summarisers whose call stays with the tenant.

    An action on the deployment's credentials may use any. Another one may only use a provider where
    the tenant has a key of its own, which then serves there alone.
    """
    if scope is Scope.DEPLOYMENT:
        return tuple(summarizers)
    owned = permit.providers or {}
    return tuple(
        one
        for one in summarizers
        if permit.is_gateway_exclusive
        or CredentialOwner.TENANT in owned.get(one.binding.provider, frozenset())
    )


def fitting(
    summarizers: Iterable[Summarizer],
    question_tokens: int,
    cap_tokens: int,
    margin_tokens: int = MARGIN_TOKENS,
) -> tuple[Summarizer, ...]:
    """Return the summarisers whose window takes the question and the summary."""
    needed = question_tokens + cap_tokens + margin_tokens
    return tuple(one for one in summarizers if not one.window_tokens or one.window_tokens >= needed)


def _blocks(turns: Iterable[Turn]) -> Iterator[Block]:
    for turn in turns:
        for block in turn.blocks:
            yield block
            if isinstance(block, ToolResult):
                yield from block.blocks
