"""Who may call what, and how much at once: the rules that every call of a server passes first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from services.domain.errors import FieldViolation, InvalidRequestError, Reason, RouterError
from services.runtime import context as call_context

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Mapping

    import grpc

    # The aio types of grpc are incomplete for interceptors: messages and contexts are Any here.
    Context = grpc.aio.ServicerContext[Any, Any]
    Pairs = Iterable[tuple[str, str | bytes]]


@dataclass(slots=True)
class Admission:
    """Who may call what, and how much at once. Mutable: ``is_draining`` and the count change."""

    service: str
    """Short name of the serving part, for log lines."""
    allowed_callers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Method path to the callers that may use it; a method that is not listed is open to all."""
    secret_methods: frozenset[str] = frozenset()
    """Method paths whose messages carry key material."""
    is_plaintext_secret_allowed: bool = False
    is_transport_secure: bool = False
    max_concurrent: int = 0
    """Most calls at once; 0: no limit."""
    is_logged: bool = True
    """Whether calls that fail are written to the log."""
    is_draining: bool = False
    in_flight: int = 0
    """Calls that run, the one being checked included; watches do not count."""
    watches: set[asyncio.Task[Any]] = field(default_factory=set)
    """Tasks of the watches that run: they have no deadline and never end by themselves."""

    def drain(self) -> None:
        """Refuse new calls and end every watch with DRAINING; other calls go on."""
        self.is_draining = True
        for task in self.watches:
            task.cancel()

    def check(self, method: str, context: Context, metadata: Pairs) -> None:
        """Raise the refusal of a call, if there is one; ``metadata`` is what its context has.

        Raises:
            RouterError: DEADLINE_REQUIRED, CALLER_NOT_ALLOWED, PLAINTEXT_SECRET_REFUSED, DRAINING
                or SERVER_BUSY.
        """
        if self.is_draining:
            raise draining()
        if self.max_concurrent and self.in_flight > self.max_concurrent:
            raise RouterError(
                Reason.SERVER_BUSY, "this server runs as many calls as it may", retry_after_s=1.0
            )
        if context.time_remaining() is None and not is_watch(name_of(method)):
            violation = FieldViolation("deadline", "set a deadline on the call")
            raise InvalidRequestError((violation,), reason=Reason.DEADLINE_REQUIRED)
        self._check_caller(method, context, metadata)

    def _check_caller(self, method: str, context: Context, metadata: Pairs) -> None:
        callers = self.allowed_callers.get(method)
        if callers is not None:
            caller = caller_of(metadata)
            if caller not in callers:
                name = name_of(method)
                raise RouterError(
                    Reason.CALLER_NOT_ALLOWED,
                    f"{caller or 'an unnamed caller'} may not call {name}: the metadata"
                    f" {call_context.CALLER_KEY} must name one of this service's callers",
                    metadata={"method": name, "caller": caller},
                )
        if method in self.secret_methods and not (
            self.is_transport_secure or self.is_plaintext_secret_allowed or is_local(context.peer())
        ):
            raise RouterError(
                Reason.PLAINTEXT_SECRET_REFUSED,
                f"{name_of(method)} carries a secret: use TLS, loopback or a Unix socket, or set"
                " allow_plaintext_secrets",
                metadata={"method": name_of(method)},
            )


def name_of(method: str) -> str:
    """Return the name of a method without its service."""
    return method.rsplit("/", 1)[-1]


def is_watch(name: str) -> bool:
    """Return whether a method streams changes until its caller leaves."""
    return name.startswith("Watch")


def draining() -> RouterError:
    """Return the refusal of a server that takes no new calls."""
    return RouterError(Reason.DRAINING, "this server is draining", retry_after_s=1.0)


def caller_of(metadata: Pairs) -> str:
    """Return the service name that a caller gave; empty: none."""
    for key, value in metadata:
        if key == call_context.CALLER_KEY and isinstance(value, str):
            return value
    return ""


def is_local(peer: str) -> bool:
    """Return whether a peer address never left this machine."""
    return peer.startswith(("inproc:", "unix:", "ipv4:127.", "ipv6:[::1]", "ipv6:%5B::1%5D"))
