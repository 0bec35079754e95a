"""In which dialect an attempt is made, where its endpoint may speak more than one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.domain.effort import LEVELS
from services.domain.vocab import CredentialKind, WireFamily
from services.domain.wire.endpoint import Host, endpoint_for
from services.domain.wire.openai_responses import stored_field

if TYPE_CHECKING:
    from services.domain.catalog import Binding, ModelFacts
    from services.domain.wire.model import Request

CHAT, RESPONSES = WireFamily.OPENAI_CHAT, WireFamily.OPENAI_RESPONSES

_CHAT_MEMBERS = frozenset({"audio", "modalities", "prediction", "web_search_options"})
"""Members of a Chat request that Responses has no counterpart for."""


@dataclass(frozen=True, slots=True)
class Speaker:
    """Who is asked, as far as it decides the dialect."""

    family: WireFamily
    """What the binding is asked in unless the request decides: its own wish, or its provider's."""
    host: Host = Host.COMPATIBLE
    is_dual: bool = False
    """Whether it has Responses beside Chat, whatever it is usually asked in."""
    is_codex_plan: bool = False
    """Whether a Codex plan pays: its backend speaks Responses only."""
    is_broad: bool = True
    """Whether OpenAI itself is asked on Responses for every turn that can be said there."""


def host_of(
    family: WireFamily,
    wanted: WireFamily,
    kind: CredentialKind,
    *,
    is_dual: bool,
    is_original: bool,
) -> Host:
    """Return who answers at a provider of ``family`` where the model wants ``wanted``.

    A tenant's gateway of the Chat family may offer Responses as well. A provider that has OpenAI's
    name but lives elsewhere (not ``is_original``) is OpenAI for the models that say so.
    """
    if kind is CredentialKind.GATEWAY:
        return Host.GATEWAY if family is CHAT else Host.COMPATIBLE
    is_openai = is_dual and (is_original or wanted is RESPONSES)
    return Host.OPENAI if is_openai else Host.COMPATIBLE


def dialect_for(
    request: Request, facts: ModelFacts, speaker: Speaker, *, is_responses_refused: bool
) -> WireFamily:
    """Return the dialect to ask ``speaker`` in.

    What the client's own dialect alone can say decides before any preference. A request that leans
    on what Responses stores is not moved to Chat even after a refusal: it would lose its history.
    """
    if speaker.family not in (CHAT, RESPONSES):
        return speaker.family
    is_known = speaker.is_dual or speaker.family is RESPONSES
    has_responses = is_known or speaker.host is not Host.COMPATIBLE
    if speaker.is_codex_plan or (has_responses and is_bound_to_responses(request)):
        return RESPONSES
    if speaker.host is Host.COMPATIBLE:
        return CHAT if is_responses_refused else speaker.family
    if is_bound_to_chat(request):
        return CHAT
    return endpoint_for(
        request,
        facts,
        speaker.host,
        is_responses_refused=is_responses_refused,
        is_broad=speaker.is_broad,
    )


def is_bound_to_responses(request: Request) -> bool:
    """Return whether a Responses request says what Chat has no form for."""
    if request.family is not RESPONSES:
        return False
    return bool(stored_field(request)) or any(tool.kind == "server" for tool in request.tools)


def is_bound_to_chat(request: Request) -> bool:
    """Return whether a Chat request asks for what only a Chat answer holds."""
    if request.family is not CHAT:
        return False
    is_native = any(key in _CHAT_MEMBERS and raw != b"null" for key, raw in request.extras)
    return is_native or bool(request.sampling.logprobs)


def codex_levels(facts: ModelFacts) -> tuple[str, ...]:
    """Return the levels of reasoning that a model takes at the Codex backend: the highest, too."""
    return tuple(dict.fromkeys((*(facts.reasoning_levels or LEVELS), LEVELS[-1])))


def is_in_codex_plan(row: Binding | None) -> bool:
    """Return whether a Codex plan covers a binding; None, one that the catalog does not know: no.

    Plans do not cover all.
    """
    return row is not None and row.is_in_codex_plan
