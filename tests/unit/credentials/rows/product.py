"""The product under the same events: its own functions and its own memory, nothing faked."""

from __future__ import annotations

from dataclasses import replace

from services.credentials.adapters.alone import Alone
from services.credentials.model import (
    BindingRef,
    Bucket,
    Credential,
    EndKind,
    Grant,
    MarkKind,
    OveragePolicy,
    Phase,
    Query,
    Report,
    Secrets,
    Selected,
    SystemState,
)
from services.credentials.policy.evidence import (
    Rules,
    Seen,
    Step,
    cleared_by_operator,
    cleared_by_secret,
    observe,
    swept,
)
from services.credentials.server.affinity import Affinities, Key
from services.credentials.server.grants import Grants
from services.credentials.server.paths import Paths
from services.credentials.server.setbacks import Setbacks
from services.domain.vocab import CredentialKind, CredentialOwner, WireFamily
from tests.fakes.clock import FakeClock
from tests.unit.credentials.cases import credential
from tests.unit.credentials.rows.table import Scope
from tests.unit.credentials.rows.words import ACCOUNTS, FAMILY, PROVIDER, PROXY, Done, Told

UNIFIED = "anthropic-ratelimit-unified-"
KINDS = {
    "plan": CredentialKind.CLAUDE_OAUTH,
    "frugal": CredentialKind.CLAUDE_OAUTH,
    "codex": CredentialKind.CODEX_OAUTH,
    "key": CredentialKind.API_KEY,
}
RULES = Rules(
    families={"p": WireFamily.ANTHROPIC, "o": WireFamily.OPENAI_RESPONSES},
    family_of=lambda model: FAMILY[model],
)
_BODIES = {
    "forbidden": b'{"error":{"type":"permission_error","message":"no"}}',
    "unsupported": b'{"error":{"code":"model_not_supported"}}',
    "overloaded": b'{"error":{"type":"overloaded_error"}}',
    "fault": b'{"error":{"type":"invalid_request_error","message":"too long"}}',
}
_STATUSES = {
    "served": 200,
    "throttled": 429,
    "refused": 401,
    "unpaid": 402,
    "forbidden": 403,
    "unsupported": 400,
    "no_model": 404,
    "overloaded": 529,
    "down": 503,
    "empty": 200,
    "fault": 400,
    "challenge": 403,
}
_ENDS = {
    "served": EndKind.SUCCEEDED,
    "empty": EndKind.EMPTY_STREAM,
    "gone": EndKind.CALLER_GONE,
    "not_sent": EndKind.NOT_SENT,
}
_PAID = {"plan": OveragePolicy.LAST_RESORT, "frugal": OveragePolicy.ALLOW}


class Product:
    """Accounts, and all that a replica remembers of them."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.accounts = {name: _account(name) for name in ACCOUNTS}
        self._seen: dict[str, Seen] = {name: {} for name in ACCOUNTS}
        self.setbacks = Setbacks(60, clock)
        self.paths = Paths(lambda name: Secrets(proxy_url=PROXY.get(name, "")), clock)
        self.grants = Grants(60, clock, lambda: None)
        self._affinities = Affinities(Alone(), 3_600, clock, is_on=True)

    def on_told(self, event: Told) -> None:
        """Take a report as the service does."""
        account = self.accounts[event.account]
        report = _report(event, account)
        self.setbacks.observe(account.id, report)
        self.paths.observe(account, report)
        now = self.clock.now_unix_s()
        step = observe(account, report, self._seen[event.account], RULES, now)
        self._seen[event.account] = step.seen
        self._take(event.account, step)

    async def on_done(self, event: Done) -> None:
        """Do what somebody does."""
        now = self.clock.now_unix_s()
        match event.what:
            case "off" | "on":
                account = self.accounts[event.account]
                spec = replace(account.spec, is_enabled=event.what == "on")
                self._take(event.account, Step(replace(account, spec=spec), {}))
            case "sweep":
                self._take(event.account, swept(self.accounts[event.account], now))
            case "reset":
                account = self.accounts[event.account]
                self._take(event.account, cleared_by_operator(account, event.model, RULES, now))
            case "login":
                account = self.accounts[event.account]
                newer = replace(account, credential_version=account.credential_version + 1)
                self._take(event.account, cleared_by_secret(newer, now))
            case "open":
                self.grants.open(
                    _selected(event), ("t", event.name), event.model, slot=True, limited=False
                )
            case "renew":
                self.grants.renew(event.name)
            case "end":
                self.grants.release(event.name)
            case "bind" if self.accounts[event.account].is_usable:
                key = self._key(event.name, event.model)
                self._affinities.bind(key, event.account)
            case "leave":
                self._affinities.leave(event.account)

    def bound(self, session: str, model: str) -> str:
        """Return the account that a session is on; empty: none."""
        return self._affinities.bound_id(self._key(session, model))

    def _key(self, session: str, model: str) -> Key:
        subject = RULES.subject(model)
        key = self._affinities.key(_query(session), _binding(model), subject)
        assert key is not None
        return key

    def _take(self, name: str, step: Step) -> None:
        self.accounts[name] = step.credential
        if not step.credential.is_usable:
            self._affinities.leave(step.credential.id)


def _account(name: str) -> Credential:
    paid = _PAID.get(name, OveragePolicy.LAST_RESORT)
    return credential(name, kind=KINDS[name], provider=PROVIDER[name], overage=paid)


def _binding(model: str) -> BindingRef:
    return BindingRef(model, "p")


def _query(session: str) -> Query:
    return Query("a", "t", "k", (_binding("m1"),), session_key=session.encode())


def _selected(event: Done) -> Selected:
    grant = Grant(
        event.name,
        "a",
        "t",
        _binding(event.model),
        CredentialKind.API_KEY,
        CredentialOwner.OPERATOR,
        Bucket.CLEAN,
        credential_id=event.account,
    )
    return Selected(grant, 0, None)


def _report(event: Told, account: Credential) -> Report:
    version = account.credential_version
    return Report(
        "g",
        "a",
        1,
        1,
        Phase.ENDED,
        credential_id=account.id,
        # A credential of one version only has no older secret: the table says so as well.
        credential_version=version - 1 if event.is_of_old_secret and version > 1 else version,
        model_id=event.model,
        send_unix_s=event.sent,
        observe_unix_s=event.at,
        end_kind=_ENDS.get(event.what, EndKind.FAILED),
        http_status=_STATUSES.get(event.what),
        headers=tuple(_headers(event).items()),
        error_body=_BODIES.get(event.what, b""),
        is_challenge_page=event.what == "challenge",
        is_model_not_found=event.what == "no_model",
    )


def _headers(event: Told) -> dict[str, str]:
    found = {f"{UNIFIED}{window}-status": word for window, word in event.statuses.items()}
    found |= {f"{UNIFIED}{window}-reset": str(at) for window, at in event.resets.items()}
    if event.aggregate:
        found[f"{UNIFIED}status"] = event.aggregate
    if event.claim:
        found[f"{UNIFIED}representative-claim"] = event.claim
    if event.wait:
        found["retry-after"] = str(event.wait)
    return found


def blocks_of(account: Credential, now: float) -> dict[Scope, int]:
    """Return the blocks that count, by scope, and when they end."""
    soft = (MarkKind.WARNING, MarkKind.OVERAGE)
    return {
        (mark.kind.value, mark.window, mark.model_id, mark.family): int(mark.expire_unix_s or 0)
        for mark in account.active_marks(now)
        if mark.kind not in soft
    }


def is_given_up(account: Credential) -> bool:
    """Return whether the service gave a key up."""
    return account.system_state is SystemState.INVALID_KEY
