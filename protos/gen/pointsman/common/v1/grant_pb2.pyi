import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CredentialKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_KIND_UNSPECIFIED: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_API_KEY: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_CLAUDE_OAUTH: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_CODEX_OAUTH: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_GEMINI_OAUTH: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_GATEWAY: _ClassVar[CredentialKind]
    CREDENTIAL_KIND_NONE: _ClassVar[CredentialKind]

class CredentialOwner(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_OWNER_UNSPECIFIED: _ClassVar[CredentialOwner]
    CREDENTIAL_OWNER_OPERATOR: _ClassVar[CredentialOwner]
    CREDENTIAL_OWNER_TENANT: _ClassVar[CredentialOwner]
    CREDENTIAL_OWNER_CALLER: _ClassVar[CredentialOwner]

class CredentialBucket(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_BUCKET_UNSPECIFIED: _ClassVar[CredentialBucket]
    CREDENTIAL_BUCKET_CLEAN: _ClassVar[CredentialBucket]
    CREDENTIAL_BUCKET_WARNED: _ClassVar[CredentialBucket]
    CREDENTIAL_BUCKET_OVERAGE: _ClassVar[CredentialBucket]
    CREDENTIAL_BUCKET_LAST_RESORT: _ClassVar[CredentialBucket]
CREDENTIAL_KIND_UNSPECIFIED: CredentialKind
CREDENTIAL_KIND_API_KEY: CredentialKind
CREDENTIAL_KIND_CLAUDE_OAUTH: CredentialKind
CREDENTIAL_KIND_CODEX_OAUTH: CredentialKind
CREDENTIAL_KIND_GEMINI_OAUTH: CredentialKind
CREDENTIAL_KIND_GATEWAY: CredentialKind
CREDENTIAL_KIND_NONE: CredentialKind
CREDENTIAL_OWNER_UNSPECIFIED: CredentialOwner
CREDENTIAL_OWNER_OPERATOR: CredentialOwner
CREDENTIAL_OWNER_TENANT: CredentialOwner
CREDENTIAL_OWNER_CALLER: CredentialOwner
CREDENTIAL_BUCKET_UNSPECIFIED: CredentialBucket
CREDENTIAL_BUCKET_CLEAN: CredentialBucket
CREDENTIAL_BUCKET_WARNED: CredentialBucket
CREDENTIAL_BUCKET_OVERAGE: CredentialBucket
CREDENTIAL_BUCKET_LAST_RESORT: CredentialBucket

class CredentialGrant(_message.Message):
    __slots__ = ("grant_id", "credential_id", "credential_version", "binding", "attribution", "secret_cache_key", "presented_hash", "expire_time", "why")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_VERSION_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    SECRET_CACHE_KEY_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_HASH_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    WHY_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    credential_id: str
    credential_version: int
    binding: _binding_pb2.BindingRef
    attribution: CredentialAttribution
    secret_cache_key: str
    presented_hash: str
    expire_time: _timestamp_pb2.Timestamp
    why: str
    def __init__(self, grant_id: _Optional[str] = ..., credential_id: _Optional[str] = ..., credential_version: _Optional[int] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., attribution: _Optional[_Union[CredentialAttribution, _Mapping]] = ..., secret_cache_key: _Optional[str] = ..., presented_hash: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., why: _Optional[str] = ...) -> None: ...

class CredentialAttribution(_message.Message):
    __slots__ = ("fingerprint", "kind", "owner", "bucket", "is_subscription_served")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    IS_SUBSCRIPTION_SERVED_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    kind: CredentialKind
    owner: CredentialOwner
    bucket: CredentialBucket
    is_subscription_served: bool
    def __init__(self, fingerprint: _Optional[str] = ..., kind: _Optional[_Union[CredentialKind, str]] = ..., owner: _Optional[_Union[CredentialOwner, str]] = ..., bucket: _Optional[_Union[CredentialBucket, str]] = ..., is_subscription_served: _Optional[bool] = ...) -> None: ...

class PresentedCredential(_message.Message):
    __slots__ = ("presented_secret", "account_id", "surface", "is_plan_header", "identity")
    PRESENTED_SECRET_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    IS_PLAN_HEADER_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    presented_secret: str
    account_id: str
    surface: _action_pb2.WireFamily
    is_plan_header: bool
    identity: PresentedIdentity
    def __init__(self, presented_secret: _Optional[str] = ..., account_id: _Optional[str] = ..., surface: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., is_plan_header: _Optional[bool] = ..., identity: _Optional[_Union[PresentedIdentity, _Mapping]] = ...) -> None: ...

class PresentedIdentity(_message.Message):
    __slots__ = ("presented_hash", "kind", "provider")
    PRESENTED_HASH_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    presented_hash: str
    kind: CredentialKind
    provider: str
    def __init__(self, presented_hash: _Optional[str] = ..., kind: _Optional[_Union[CredentialKind, str]] = ..., provider: _Optional[str] = ...) -> None: ...

class SuppressedPlan(_message.Message):
    __slots__ = ("kind", "owner")
    KIND_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    kind: CredentialKind
    owner: CredentialOwner
    def __init__(self, kind: _Optional[_Union[CredentialKind, str]] = ..., owner: _Optional[_Union[CredentialOwner, str]] = ...) -> None: ...
