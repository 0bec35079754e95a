"""Ways out to providers that their edge has challenged, in the memory of one replica."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from services.credentials.model import EndKind, Phase
from services.credentials.policy.edge import Barrier, after_answer, after_challenge
from services.credentials.server.bounded import Bounded
from services.runtime.log import get_logger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from services.credentials.model import Credential, Report, Secrets
    from services.runtime.clock import Clock

MAX_PATHS = 4_096
NO_BARRIERS: Mapping[str, float] = MappingProxyType({})

Path: TypeAlias = tuple[str, str, str]
"""Provider, address of its endpoint where that is another one, proxy."""

_log = get_logger("credentials")


class Paths:
    """Says which credentials share a way out that is closed, and until when."""

    def __init__(self, secrets_of: Callable[[str], Secrets], clock: Clock) -> None:
        self._secrets_of = secrets_of
        self._clock = clock
        self._barriers: Bounded[Path, Barrier] = Bounded(MAX_PATHS)
        self._last_end_unix_s = 0.0
        """From then on no way is closed, and nobody needs to look."""

    def closed(self, lane: Iterable[Credential]) -> Mapping[str, float]:
        """Return, by credential, until when its way out is closed."""
        now = self._clock.now_unix_s()
        if now >= self._last_end_unix_s:
            return NO_BARRIERS
        found: dict[str, float] = {}
        for credential in lane:
            barrier = self._barriers.get(self._path_of(credential))
            if barrier is not None and barrier.is_up(now):
                found[credential.id] = barrier.until_unix_s
        return found

    def observe(self, credential: Credential, report: Report) -> None:
        """Note a challenge page, or that the provider itself answers again."""
        if not (report.is_challenge_page or self._barriers):
            return
        path = self._path_of(credential)
        barrier = self._barriers.get(path)
        if report.is_challenge_page:
            raised = after_challenge(barrier, report.send_unix_s, self._clock.now_unix_s())
            if raised is not barrier:
                self._barriers.put(path, raised)
                self._last_end_unix_s = max(self._last_end_unix_s, raised.until_unix_s)
                wait_s = raised.until_unix_s - raised.since_unix_s
                _log.warning("egress_path_challenged", provider=path[0], wait_s=wait_s)
        elif barrier is not None and _is_of_provider(report):
            after = after_answer(barrier, report.send_unix_s)
            if after is None:
                self._barriers.drop(path)

    def _path_of(self, credential: Credential) -> Path:
        spec = credential.spec
        return (spec.provider, spec.base_url, self._secrets_of(credential.id).proxy_url)


def _is_of_provider(report: Report) -> bool:
    """Return whether a report is about a success that came through."""
    is_whole = report.phase is Phase.HEADERS or report.end_kind is EndKind.SUCCEEDED
    return is_whole and report.http_status is not None and 200 <= report.http_status < 300
