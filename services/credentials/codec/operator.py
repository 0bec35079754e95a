"""What operators ask: to store, change and list credentials."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import orjson
from pointsman.credentials.v1 import credentials_pb2 as pb

from services.credentials.codec import fields
from services.credentials.codec.credential import decode_secrets, decode_settings, decode_spec
from services.credentials.codec.fields import member, not_negative, present, required
from services.credentials.model import CredentialSpec, Secrets
from services.domain.errors import InvalidRequestError
from services.domain.vocab import CredentialKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from services.credentials.model import Credential

MAX_ACTOR_CHARACTERS = 200
DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1_000
MAX_PAGE_BYTES = 128 * 1024
"""Size beyond which a page ends early; the largest credential fits beside."""
_FIXED = ("installation_id", "provider", "kind")

FIELD_OF_PATH = {
    "label": "label",
    "account": "account",
    "is_enabled": "is_enabled",
    "priority": "priority",
    "weight": "weight",
    "model_ids": "model_ids",
    "excluded_model_patterns": "excluded_model_patterns",
    "upstream_id_by_model": "upstream_id_by_model",
    "model_prefix": "model_prefix",
    "base_url": "base_url",
    "max_in_flight_count": "max_in_flight",
    "max_in_flight_count_per_model": "max_in_flight_per_model",
    "overage": "overage",
    "cooling": "cooling",
    "is_overage_window_family_scoped": "is_overage_window_family_scoped",
    "is_quota_header_trusted": "is_quota_header_trusted",
    "identity_header_name": "identity_header_name",
    "identity_format": "identity_format",
}
"""Paths of an update mask and the setting that each changes."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A credential to be stored."""

    idempotency_key: str
    spec: CredentialSpec
    secrets: Secrets = field(repr=False)
    actor: str


@dataclass(frozen=True, slots=True)
class Update:
    """A change of a credential."""

    credential_id: str
    expected_state_version: int
    spec: CredentialSpec
    changed: frozenset[str]
    """Names of the settings to change."""
    secrets: Secrets | None = field(repr=False)
    actor: str

    def applied_to(self, spec: CredentialSpec) -> CredentialSpec:
        """Return the settings after the change."""
        return replace(spec, **{name: getattr(self.spec, name) for name in self.changed})

    def merged_into(self, secrets: Secrets) -> Secrets:
        """Return the secrets after the change; what was not sent stays."""
        new = self.secrets
        if new is None:
            return secrets
        given = {
            name: getattr(new, name)
            for name in ("value", "refresh_token", "id_token", "account_id", "project_id")
            if getattr(new, name)
        }
        return replace(
            secrets,
            **given,
            headers=new.headers or secrets.headers,
            proxy_url=new.proxy_url or secrets.proxy_url,
            expire_unix_s=new.expire_unix_s
            if new.expire_unix_s is not None or new.value
            else secrets.expire_unix_s,
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """Which credentials to list."""

    page_size: int
    after: tuple[str, int, str] | None
    """Sort key of the last one that was listed: provider, negative priority, id."""
    installation_id: str
    provider: str
    kind: CredentialKind | None

    def key_of(self, credential: Credential) -> tuple[str, int, str] | None:
        """Return the sort key of a credential that is to be listed; None: it is not."""
        spec, key = credential.spec, sort_key(credential)
        if self.after is not None and key <= self.after:
            return None
        is_wanted = (
            self.installation_id in ("", spec.installation_id)
            and self.provider in ("", spec.provider)
            and self.kind in (None, spec.kind)
        )
        return key if is_wanted else None


def decode_create(request: pb.CreateCredentialRequest, providers: Iterable[str]) -> Creation:
    """Return the credential to be stored.

    Raises:
        InvalidRequestError: a field is missing or out of range, or the provider is not known.
    """
    present(request, "spec")
    spec = decode_spec(request.spec)
    known = sorted(providers)
    if spec.provider not in known:
        raise InvalidRequestError.of("spec.provider", f"must be one of {', '.join(known)}")
    secrets = decode_secrets(request.secrets)
    check_kind(spec, secrets)
    if spec.kind is not CredentialKind.NONE and not (secrets.value or secrets.refresh_token):
        raise InvalidRequestError.of("secrets.value_secret", "must be set")
    return Creation(
        idempotency_key=required(request.idempotency_key, "idempotency_key"),
        spec=spec,
        secrets=secrets,
        actor=required(request.actor, "actor", MAX_ACTOR_CHARACTERS),
    )


def check_kind(spec: CredentialSpec, secrets: Secrets | None) -> None:
    """Check settings, and secrets that come with them, against the kind of a credential.

    Raises:
        InvalidRequestError: one is missing, or one is too much.
    """
    if spec.kind is CredentialKind.NONE and secrets is not None and secrets.value:
        raise InvalidRequestError.of("secrets", "must be empty for kind none")
    if spec.kind is CredentialKind.GATEWAY and not spec.base_url:
        raise InvalidRequestError.of("spec.base_url", "must be set for kind gateway")


def decode_update(request: pb.UpdateCredentialRequest) -> Update:
    """Return the change of a credential.

    Raises:
        InvalidRequestError: a field is missing or out of range, or may not change.
    """
    paths = list(request.update_mask.paths)
    for path in paths:
        if path in _FIXED:
            raise InvalidRequestError.of("update_mask", f"{path} cannot change")
        if path not in FIELD_OF_PATH:
            raise InvalidRequestError.of(
                "update_mask", f"unknown path {path}; use {', '.join(FIELD_OF_PATH)}"
            )
    secrets = decode_secrets(request.secrets)
    return Update(
        credential_id=required(request.credential_id, "credential_id", 128),
        expected_state_version=not_negative(
            request.expected_state_version, "expected_state_version"
        ),
        spec=decode_settings(request.spec, "", CredentialKind.API_KEY),
        changed=frozenset(FIELD_OF_PATH[path] for path in paths),
        secrets=secrets if secrets != Secrets() else None,
        actor=required(request.actor, "actor", MAX_ACTOR_CHARACTERS),
    )


def decode_list(request: pb.ListCredentialsRequest) -> Listing:
    """Return which credentials to list.

    Raises:
        InvalidRequestError: the page token or a number is not ours.
    """
    if request.page_size < 0:
        raise InvalidRequestError.of("page_size", "must be 0 or more")
    kind = member(fields.KIND_OF, request.kind, "kind") if request.HasField("kind") else None
    return Listing(
        page_size=min(request.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE),
        after=_decode_token(request.page_token),
        installation_id=request.installation_id,
        provider=request.provider,
        kind=kind,
    )


def sort_key(credential: Credential) -> tuple[str, int, str]:
    """Return what orders a list: provider, descending priority, id."""
    spec = credential.spec
    return (spec.provider, -credential.priority, credential.id)


def page_token(credential: Credential) -> str:
    """Return the token of the page after a credential."""
    return base64.urlsafe_b64encode(orjson.dumps(sort_key(credential))).decode()


def fitting(credentials: Iterable[pb.Credential]) -> list[pb.Credential]:
    """Return the first of some credentials, as many as one message holds, at least one."""
    kept: list[pb.Credential] = []
    size = 0
    for one in credentials:
        size += one.ByteSize()
        if kept and size > MAX_PAGE_BYTES:
            break
        kept.append(one)
    return kept


def _decode_token(token: str) -> tuple[str, int, str] | None:
    if not token:
        return None
    try:
        provider, priority, identity = orjson.loads(base64.urlsafe_b64decode(token))
        return (str(provider), int(priority), str(identity))
    except (binascii.Error, orjson.JSONDecodeError, ValueError, TypeError):
        raise InvalidRequestError.of("page_token", "is not one of ours") from None
