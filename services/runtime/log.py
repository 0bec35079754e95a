"""Logs: structlog, JSON to stdout, one canonical line per action and per RPC.

Names of events are snake_case constants. Fields whose names end in ``_secret`` are dropped, and a
last filter replaces key-shaped text in the finished line.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

MASK = "[masked]"

_KEY_SHAPED = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{8,}|r[kam]_[A-Za-z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}|xai-[A-Za-z0-9_-]{12,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)"
    r"|(?i:\bbearer\s+)[^\s\"',;]{8,}"
    r"|(?i:([?&](?:key|api_key|access_token|token)=))[^&\s\"']+"
    r"|(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"
)


def masked(text: str) -> str:
    """Return ``text`` with key-, token- and password-shaped parts replaced."""
    return _KEY_SHAPED.sub(lambda match: f"{match[1] or ''}{MASK}", text)


def _without_secrets(
    _logger: object, _method: str, event: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    for key in [key for key in event if key.endswith("_secret")]:
        del event[key]
    return event


def _masking(renderer: structlog.types.Processor) -> structlog.types.Processor:
    """Mask the finished line, so that nothing nested or printed by itself goes round it."""

    def render(logger: object, method: str, event: MutableMapping[str, object]) -> str:
        return masked(str(renderer(logger, method, event)))

    return render


def configure(level: str = "info", form: str = "auto") -> None:
    """Set up logging for this process; ``form`` is ``json``, ``console`` or ``auto`` (by TTY)."""
    is_console = form == "console" or (form == "auto" and sys.stdout.isatty())
    renderer: structlog.types.Processor = (
        # Plain tracebacks: the pretty ones print local variables, secrets among them.
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if is_console
        else structlog.processors.JSONRenderer()
    )
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _without_secrets,
            _masking(renderer),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.PrintLoggerFactory(),
        cache_logger_on_first_use=True,
    )


def get_logger(service: str) -> structlog.typing.FilteringBoundLogger:
    """Return a logger whose lines name ``service``."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(service=service)
    return logger
