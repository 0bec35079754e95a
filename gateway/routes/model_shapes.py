"""Models of the catalog as each dialect's clients read them. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.domain.errors import InvalidRequestError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from services.domain.catalog import Model

DEFAULT_PAGE = 50
MOST_IN_PAGE = 1_000
"""Models of a Gemini page where the client says nothing, and at most."""

_CREATED = "1970-01-01T00:00:00Z"
_ACTIONS = ("generateContent", "countTokens", "streamGenerateContent")


def anthropic(model: Model) -> Mapping[str, object]:
    """Return a model of a Messages list."""
    return {"type": "model", "id": model.id, "display_name": model.id, "created_at": _CREATED}


def anthropic_list(models: Sequence[Model]) -> Mapping[str, object]:
    """Return the whole list of a Messages client."""
    return {
        "data": [anthropic(model) for model in models],
        "has_more": False,
        "first_id": models[0].id if models else None,
        "last_id": models[-1].id if models else None,
    }


def openai(model: Model) -> Mapping[str, object]:
    """Return a model of an OpenAI list."""
    owner = model.bindings[0].provider
    return {"id": model.id, "object": "model", "created": 0, "owned_by": owner}


def openai_list(models: Sequence[Model]) -> Mapping[str, object]:
    """Return the whole list of an OpenAI client."""
    return {"object": "list", "data": [openai(model) for model in models]}


def gemini(model: Model) -> Mapping[str, object]:
    """Return a model of a Gemini list; limits are those of its largest binding."""
    windows = [binding.context_window_tokens for binding in model.bindings]
    outputs = [binding.max_output_tokens or 0 for binding in model.bindings]
    shown: dict[str, object] = {
        "name": f"models/{model.id}",
        "version": "1",
        "displayName": model.id,
        "inputTokenLimit": max(windows),
        "supportedGenerationMethods": list(_ACTIONS),
    }
    if any(outputs):
        shown["outputTokenLimit"] = max(outputs)
    return shown


def gemini_page(models: Sequence[Model], size: str, token: str) -> Mapping[str, object]:
    """Return one page of a Gemini client's list; a token is the place where it begins.

    Raises:
        InvalidRequestError: size or token is no number of ours.
    """
    start = _whole("pageToken", token, 0)
    end = start + min(_whole("pageSize", size, DEFAULT_PAGE) or DEFAULT_PAGE, MOST_IN_PAGE)
    page: dict[str, object] = {"models": [gemini(model) for model in models[start:end]]}
    if end < len(models):
        page["nextPageToken"] = str(end)
    return page


def _whole(field: str, text: str, default: int) -> int:
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 9):
        raise InvalidRequestError.of(field, "must be a number, or a token of an earlier answer")
    return int(text)
