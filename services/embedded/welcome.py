"""Says where the product listens and how to ask it, in lines that can be pasted."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from services.embedded.finding import url_of
from services.runtime.providers import BASE_URLS

if TYPE_CHECKING:
    from gateway.first_key import FirstKey
    from services.domain.catalog import Catalog
    from services.embedded.settings import Settings
    from services.runtime.edge import Listening

_CURL = """
  curl {url}/v1/messages -H "x-router-key: $POINTSMAN_KEY" -H 'content-type: application/json' \\
    -d '{{"model":"{model}","max_tokens":1024,"messages":[{{"role":"user","content":"Hello"}}]}}'

  curl {url}/v1/chat/completions -H "x-router-key: $POINTSMAN_KEY" -H 'content-type: application/json' \\
    -d '{{"model":"{model}","messages":[{{"role":"user","content":"Hello"}}]}}'

  curl {url}/v1/responses -H "x-router-key: $POINTSMAN_KEY" -H 'content-type: application/json' \\
    -d '{{"model":"{model}","input":"Hello"}}'

  curl {url}/v1beta/models/{model}:generateContent -H "x-router-key: $POINTSMAN_KEY" -H 'content-type: application/json' \\
    -d '{{"contents":[{{"role":"user","parts":[{{"text":"Hello"}}]}}]}}'

  pointsman client install claude-code --server {url}   # or codex, gemini-cli, opencode
"""  # noqa: E501 - a command that is pasted stays on its line

_SANDBOX = """
  SANDBOX: no provider key is set. The models sandbox-large and sandbox-small answer canned texts,
  locally and free of charge. Set a key, such as ANTHROPIC_API_KEY, and start again.
"""


def write(
    settings: Settings,
    catalog: Catalog,
    listening: Listening,
    *,
    first_key: FirstKey | None,
    is_sandboxed: bool,
) -> None:
    """Write the lines to standard output."""
    lines = text(settings, catalog, listening, first_key=first_key, is_sandboxed=is_sandboxed)
    sys.stdout.write(lines)
    sys.stdout.flush()


def text(
    settings: Settings,
    catalog: Catalog,
    listening: Listening,
    *,
    first_key: FirstKey | None,
    is_sandboxed: bool,
) -> str:
    """Return what a person is told at the start; no key is in it."""
    url = url_of(settings.gateway.listen, listening.port)
    ops = url_of(settings.gateway.ops_listen, listening.ops_port)
    lines = f"\n  Pointsman listens on {url} (metrics and health on {ops})\n"
    if is_sandboxed:
        lines += _SANDBOX
    lines += f"\n  export POINTSMAN_KEY={_key(settings, first_key)}\n"
    return lines + _CURL.format(url=url, model=_model(settings, catalog)) + "\n"


def _key(settings: Settings, first_key: FirstKey | None) -> str:
    """Return how the shell gets a router key."""
    if first_key is not None and first_key.file is not None:
        return f"$(cat {shlex.quote(str(first_key.file))})"
    if settings.gateway.bootstrap_key.get_secret_value():
        return "$POINTSMAN_BOOTSTRAP_KEY"
    if first_key is not None:
        return "rk_...   # the router key shown above"
    return "rk_...   # a router key of yours; `pointsman keys create NAME` makes another"


def _model(settings: Settings, catalog: Catalog) -> str:
    """Return a model that a configured provider has; any where there is none."""
    asked = {
        *(credential.provider for credential in settings.credentials),
        *(
            name
            for name, provider in settings.providers.items()
            if provider.api_key.get_secret_value() or name not in BASE_URLS
        ),
    }
    served = (
        model.id
        for model in catalog.models.values()
        if any(binding.provider in asked for binding in model.bindings)
    )
    return next(served, next(iter(catalog.models), "model"))
