"""Logs: structlog, JSON to stdout, one canonical line per action and per RPC.

Names of events are snake_case constants. Fields whose names end in ``_secret`` are dropped, and a
last filter replaces key-shaped text in the finished line.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import structlog

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    # The class of structlog's loggers is made where it is configured: they are Any to its method.

MASK = "[masked]"

_KEY_SHAPED = re.compile(
    # In a JSON line an escaped newline or tab ends in a letter, which is no part of a word.
    r"(?:\b|(?<=\\[bfnrt]))"
    r"(?:sk-[A-Za-z0-9_-]{8,}|r[kam]_[A-Za-z0-9]{12,}|AIza[A-Za-z0-9_-]{20,}|xai-[A-Za-z0-9_-]{12,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)"
    r"|(?i:(?:\b|(?<=\\[bfnrt]))bearer(?:\s|\\[nrt])+)[^\s\"',;]{8,}"
    r"|(?i:([?&](?:key|api_key|access_token|token)=))[^&\s\"']+"
    r"|(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"
)
_MARKS = ("sk-", "rk_", "ra_", "rm_", "aiza", "xai-", "eyj", "bearer", "key=", "token=", "://")
"""What the pattern cannot match without, in lower case: nearly all texts have none of them."""
_SIGNS = (" ", "\\", "=", "/", "A", "J", "sk-", "rk_", "ra_", "rm_", "xai-")
"""What it cannot match without in a JSON line: one letter is found sooner than a whole mark."""


_DROPPED = "_secret"
_DROPPED_MEMBER = b'_secret":'


def masked(text: str) -> str:
    """Return ``text`` with key-, token- and password-shaped parts replaced."""
    if not _has_one_of(_MARKS, text.lower()):
        return text
    return _KEY_SHAPED.sub(lambda match: f"{match[1] or ''}{MASK}", text)


def _has_one_of(marks: tuple[str, ...], text: str) -> bool:
    for mark in marks:  # noqa: SIM110 - a generator would take as long as all of its looks
        if mark in text:
            return True
    return False


def _without_secrets(
    _logger: object, _method: str, event: MutableMapping[str, object]
) -> MutableMapping[str, object]:
    for key in [key for key in event if key.endswith(_DROPPED)]:
        del event[key]
    return event


def _json_line(logger: object, method: str, event: MutableMapping[str, object]) -> bytes:
    """Return an event as a finished line.

    All in one step, since every action passes here. What is to be dropped or masked is looked for
    in the line itself, so that nothing nested or printed by itself goes round it.
    """
    if "exc_info" in event:
        event = structlog.processors.format_exc_info(logger, method, event)
    event = structlog.processors.add_log_level(logger, method, event)
    event["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    line = _dumped(event)
    if _DROPPED_MEMBER in line:
        line = _dumped(_without_secrets(logger, method, event))
    if line.isascii() and not _has_one_of(_SIGNS, line.decode()):
        return line
    return masked(line.decode()).encode("utf-8", "backslashreplace")


def _dumped(event: object) -> bytes:
    """Return an event as JSON; what only the slower writer can write is left to it."""
    try:
        return orjson.dumps(event, repr, _AS_IS)
    except orjson.JSONEncodeError:
        return json.dumps(event, default=repr).encode()


_AS_IS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
"""Values print as themselves: a field that its class hides stays hidden."""


def _masking(renderer: structlog.types.Processor) -> structlog.types.Processor:
    """Mask the finished line, so that nothing nested or printed by itself goes round it."""

    def render(logger: object, method: str, event: MutableMapping[str, object]) -> str:
        return masked(str(renderer(logger, method, event)))

    return render


def configure(level: str = "info", form: str = "auto") -> None:
    """Set up logging for this process; ``form`` is ``json``, ``console`` or ``auto`` (by TTY)."""
    is_console = form == "console" or (form == "auto" and sys.stdout.isatty())
    wrapper = structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()])
    structlog.configure(
        processors=_console() if is_console else [_json_line],
        wrapper_class=type("ShortLogger", (wrapper,), {"_proxy_to_logger": _proxy_to_logger}),
        logger_factory=structlog.PrintLoggerFactory()
        if is_console
        else structlog.BytesLoggerFactory(),
        cache_logger_on_first_use=True,
    )


def _proxy_to_logger(self: Any, method: str, event: str, /, **fields: object) -> None:
    """Send an event through the processors as structlog does; that copies its fields twice more."""
    told: Any = {**self._context, **fields, "event": event}
    try:
        for process in self._processors:
            told = process(self._logger, method, told)
    except structlog.DropEvent:
        return
    self._logger.msg(told)


def _console() -> list[structlog.types.Processor]:
    # Plain tracebacks: the pretty ones print local variables, secrets among them.
    plain = structlog.dev.plain_traceback
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _without_secrets,
        _masking(structlog.dev.ConsoleRenderer(exception_formatter=plain)),
    ]


def get_logger(service: str) -> structlog.typing.FilteringBoundLogger:
    """Return a logger whose lines name ``service``."""
    logger: structlog.typing.FilteringBoundLogger = structlog.get_logger(service=service)
    return logger
