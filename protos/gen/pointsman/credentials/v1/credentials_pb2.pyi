import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import field_mask_pb2 as _field_mask_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import eligibility_pb2 as _eligibility_pb2
from pointsman.common.v1 import grant_pb2 as _grant_pb2
from pointsman.common.v1 import header_pb2 as _header_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SecretPurpose(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SECRET_PURPOSE_UNSPECIFIED: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_SERVE: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_AUXILIARY: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_COUNT_TOKENS: _ClassVar[SecretPurpose]
    SECRET_PURPOSE_LIST_MODELS: _ClassVar[SecretPurpose]

class SelectionStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SELECTION_STRATEGY_UNSPECIFIED: _ClassVar[SelectionStrategy]
    SELECTION_STRATEGY_ROUND_ROBIN: _ClassVar[SelectionStrategy]
    SELECTION_STRATEGY_FILL_FIRST: _ClassVar[SelectionStrategy]
    SELECTION_STRATEGY_WEIGHTED: _ClassVar[SelectionStrategy]
    SELECTION_STRATEGY_SOLE: _ClassVar[SelectionStrategy]

class VerdictKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_KIND_UNSPECIFIED: _ClassVar[VerdictKind]
    VERDICT_KIND_PICKED: _ClassVar[VerdictKind]
    VERDICT_KIND_LOWER_PRIORITY: _ClassVar[VerdictKind]
    VERDICT_KIND_NOT_THIS_TURN: _ClassVar[VerdictKind]
    VERDICT_KIND_WARNED: _ClassVar[VerdictKind]
    VERDICT_KIND_OVERAGE: _ClassVar[VerdictKind]
    VERDICT_KIND_COOLING: _ClassVar[VerdictKind]
    VERDICT_KIND_EXHAUSTED: _ClassVar[VerdictKind]
    VERDICT_KIND_UNSUPPORTED: _ClassVar[VerdictKind]
    VERDICT_KIND_AUTH: _ClassVar[VerdictKind]
    VERDICT_KIND_DISABLED: _ClassVar[VerdictKind]
    VERDICT_KIND_EXCLUDED: _ClassVar[VerdictKind]
    VERDICT_KIND_PREFIX: _ClassVar[VerdictKind]
    VERDICT_KIND_PLAN: _ClassVar[VerdictKind]
    VERDICT_KIND_BUSY: _ClassVar[VerdictKind]
    VERDICT_KIND_TRIED: _ClassVar[VerdictKind]
    VERDICT_KIND_EDGE: _ClassVar[VerdictKind]
    VERDICT_KIND_SUPPRESSED: _ClassVar[VerdictKind]

class AuthScheme(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUTH_SCHEME_UNSPECIFIED: _ClassVar[AuthScheme]
    AUTH_SCHEME_X_API_KEY: _ClassVar[AuthScheme]
    AUTH_SCHEME_BEARER: _ClassVar[AuthScheme]
    AUTH_SCHEME_X_GOOG_API_KEY: _ClassVar[AuthScheme]
    AUTH_SCHEME_CLAUDE_OAUTH: _ClassVar[AuthScheme]
    AUTH_SCHEME_CODEX_OAUTH: _ClassVar[AuthScheme]
    AUTH_SCHEME_GEMINI_OAUTH: _ClassVar[AuthScheme]
    AUTH_SCHEME_CUSTOM_HEADER: _ClassVar[AuthScheme]
    AUTH_SCHEME_NONE: _ClassVar[AuthScheme]

class IdentityFormat(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    IDENTITY_FORMAT_UNSPECIFIED: _ClassVar[IdentityFormat]
    IDENTITY_FORMAT_EMAIL: _ClassVar[IdentityFormat]
    IDENTITY_FORMAT_JSON: _ClassVar[IdentityFormat]

class EndKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    END_KIND_UNSPECIFIED: _ClassVar[EndKind]
    END_KIND_SUCCEEDED: _ClassVar[EndKind]
    END_KIND_FAILED: _ClassVar[EndKind]
    END_KIND_CALLER_GONE: _ClassVar[EndKind]
    END_KIND_EMPTY_STREAM: _ClassVar[EndKind]
    END_KIND_NOT_SENT: _ClassVar[EndKind]

class ReportOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPORT_OUTCOME_UNSPECIFIED: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_APPLIED: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_DUPLICATE: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_STALE: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_GRANT_UNKNOWN: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_INVALID: _ClassVar[ReportOutcome]
    REPORT_OUTCOME_NOT_STORED: _ClassVar[ReportOutcome]

class MarkKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MARK_KIND_UNSPECIFIED: _ClassVar[MarkKind]
    MARK_KIND_WARNING: _ClassVar[MarkKind]
    MARK_KIND_QUOTA: _ClassVar[MarkKind]
    MARK_KIND_OVERAGE: _ClassVar[MarkKind]
    MARK_KIND_AUTH: _ClassVar[MarkKind]
    MARK_KIND_UNSUPPORTED: _ClassVar[MarkKind]
    MARK_KIND_BILLING: _ClassVar[MarkKind]
    MARK_KIND_TRANSIENT: _ClassVar[MarkKind]
    MARK_KIND_EDGE: _ClassVar[MarkKind]

class TransitionCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSITION_CAUSE_UNSPECIFIED: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_OWN_STATUS: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_AGGREGATE: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_RESET: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_MANUAL: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_REJECTION: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_SUCCESS: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_EVIDENCE: _ClassVar[TransitionCause]
    TRANSITION_CAUSE_LOGIN: _ClassVar[TransitionCause]

class SystemState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SYSTEM_STATE_UNSPECIFIED: _ClassVar[SystemState]
    SYSTEM_STATE_OK: _ClassVar[SystemState]
    SYSTEM_STATE_NEEDS_LOGIN: _ClassVar[SystemState]
    SYSTEM_STATE_INVALID_KEY: _ClassVar[SystemState]
    SYSTEM_STATE_QUARANTINED: _ClassVar[SystemState]

class CredentialOrigin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_ORIGIN_UNSPECIFIED: _ClassVar[CredentialOrigin]
    CREDENTIAL_ORIGIN_POOL: _ClassVar[CredentialOrigin]
    CREDENTIAL_ORIGIN_PROVIDER_KEY: _ClassVar[CredentialOrigin]
    CREDENTIAL_ORIGIN_STORED: _ClassVar[CredentialOrigin]

class OveragePolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OVERAGE_POLICY_UNSPECIFIED: _ClassVar[OveragePolicy]
    OVERAGE_POLICY_LAST_RESORT: _ClassVar[OveragePolicy]
    OVERAGE_POLICY_DENY: _ClassVar[OveragePolicy]
    OVERAGE_POLICY_ALLOW: _ClassVar[OveragePolicy]

class CoolingPolicy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COOLING_POLICY_UNSPECIFIED: _ClassVar[CoolingPolicy]
    COOLING_POLICY_INHERIT: _ClassVar[CoolingPolicy]
    COOLING_POLICY_ON: _ClassVar[CoolingPolicy]
    COOLING_POLICY_OFF: _ClassVar[CoolingPolicy]
SECRET_PURPOSE_UNSPECIFIED: SecretPurpose
SECRET_PURPOSE_SERVE: SecretPurpose
SECRET_PURPOSE_AUXILIARY: SecretPurpose
SECRET_PURPOSE_COUNT_TOKENS: SecretPurpose
SECRET_PURPOSE_LIST_MODELS: SecretPurpose
SELECTION_STRATEGY_UNSPECIFIED: SelectionStrategy
SELECTION_STRATEGY_ROUND_ROBIN: SelectionStrategy
SELECTION_STRATEGY_FILL_FIRST: SelectionStrategy
SELECTION_STRATEGY_WEIGHTED: SelectionStrategy
SELECTION_STRATEGY_SOLE: SelectionStrategy
VERDICT_KIND_UNSPECIFIED: VerdictKind
VERDICT_KIND_PICKED: VerdictKind
VERDICT_KIND_LOWER_PRIORITY: VerdictKind
VERDICT_KIND_NOT_THIS_TURN: VerdictKind
VERDICT_KIND_WARNED: VerdictKind
VERDICT_KIND_OVERAGE: VerdictKind
VERDICT_KIND_COOLING: VerdictKind
VERDICT_KIND_EXHAUSTED: VerdictKind
VERDICT_KIND_UNSUPPORTED: VerdictKind
VERDICT_KIND_AUTH: VerdictKind
VERDICT_KIND_DISABLED: VerdictKind
VERDICT_KIND_EXCLUDED: VerdictKind
VERDICT_KIND_PREFIX: VerdictKind
VERDICT_KIND_PLAN: VerdictKind
VERDICT_KIND_BUSY: VerdictKind
VERDICT_KIND_TRIED: VerdictKind
VERDICT_KIND_EDGE: VerdictKind
VERDICT_KIND_SUPPRESSED: VerdictKind
AUTH_SCHEME_UNSPECIFIED: AuthScheme
AUTH_SCHEME_X_API_KEY: AuthScheme
AUTH_SCHEME_BEARER: AuthScheme
AUTH_SCHEME_X_GOOG_API_KEY: AuthScheme
AUTH_SCHEME_CLAUDE_OAUTH: AuthScheme
AUTH_SCHEME_CODEX_OAUTH: AuthScheme
AUTH_SCHEME_GEMINI_OAUTH: AuthScheme
AUTH_SCHEME_CUSTOM_HEADER: AuthScheme
AUTH_SCHEME_NONE: AuthScheme
IDENTITY_FORMAT_UNSPECIFIED: IdentityFormat
IDENTITY_FORMAT_EMAIL: IdentityFormat
IDENTITY_FORMAT_JSON: IdentityFormat
END_KIND_UNSPECIFIED: EndKind
END_KIND_SUCCEEDED: EndKind
END_KIND_FAILED: EndKind
END_KIND_CALLER_GONE: EndKind
END_KIND_EMPTY_STREAM: EndKind
END_KIND_NOT_SENT: EndKind
REPORT_OUTCOME_UNSPECIFIED: ReportOutcome
REPORT_OUTCOME_APPLIED: ReportOutcome
REPORT_OUTCOME_DUPLICATE: ReportOutcome
REPORT_OUTCOME_STALE: ReportOutcome
REPORT_OUTCOME_GRANT_UNKNOWN: ReportOutcome
REPORT_OUTCOME_INVALID: ReportOutcome
REPORT_OUTCOME_NOT_STORED: ReportOutcome
MARK_KIND_UNSPECIFIED: MarkKind
MARK_KIND_WARNING: MarkKind
MARK_KIND_QUOTA: MarkKind
MARK_KIND_OVERAGE: MarkKind
MARK_KIND_AUTH: MarkKind
MARK_KIND_UNSUPPORTED: MarkKind
MARK_KIND_BILLING: MarkKind
MARK_KIND_TRANSIENT: MarkKind
MARK_KIND_EDGE: MarkKind
TRANSITION_CAUSE_UNSPECIFIED: TransitionCause
TRANSITION_CAUSE_OWN_STATUS: TransitionCause
TRANSITION_CAUSE_AGGREGATE: TransitionCause
TRANSITION_CAUSE_RESET: TransitionCause
TRANSITION_CAUSE_MANUAL: TransitionCause
TRANSITION_CAUSE_REJECTION: TransitionCause
TRANSITION_CAUSE_SUCCESS: TransitionCause
TRANSITION_CAUSE_EVIDENCE: TransitionCause
TRANSITION_CAUSE_LOGIN: TransitionCause
SYSTEM_STATE_UNSPECIFIED: SystemState
SYSTEM_STATE_OK: SystemState
SYSTEM_STATE_NEEDS_LOGIN: SystemState
SYSTEM_STATE_INVALID_KEY: SystemState
SYSTEM_STATE_QUARANTINED: SystemState
CREDENTIAL_ORIGIN_UNSPECIFIED: CredentialOrigin
CREDENTIAL_ORIGIN_POOL: CredentialOrigin
CREDENTIAL_ORIGIN_PROVIDER_KEY: CredentialOrigin
CREDENTIAL_ORIGIN_STORED: CredentialOrigin
OVERAGE_POLICY_UNSPECIFIED: OveragePolicy
OVERAGE_POLICY_LAST_RESORT: OveragePolicy
OVERAGE_POLICY_DENY: OveragePolicy
OVERAGE_POLICY_ALLOW: OveragePolicy
COOLING_POLICY_UNSPECIFIED: CoolingPolicy
COOLING_POLICY_INHERIT: CoolingPolicy
COOLING_POLICY_ON: CoolingPolicy
COOLING_POLICY_OFF: CoolingPolicy

class GetEligibilityRequest(_message.Message):
    __slots__ = ("installation_id", "presented", "known_version")
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_FIELD_NUMBER: _ClassVar[int]
    KNOWN_VERSION_FIELD_NUMBER: _ClassVar[int]
    installation_id: str
    presented: _containers.RepeatedCompositeFieldContainer[_grant_pb2.PresentedCredential]
    known_version: str
    def __init__(self, installation_id: _Optional[str] = ..., presented: _Optional[_Iterable[_Union[_grant_pb2.PresentedCredential, _Mapping]]] = ..., known_version: _Optional[str] = ...) -> None: ...

class GetEligibilityResponse(_message.Message):
    __slots__ = ("is_unchanged", "snapshot", "presented")
    IS_UNCHANGED_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_FIELD_NUMBER: _ClassVar[int]
    is_unchanged: bool
    snapshot: EligibilitySnapshot
    presented: _containers.RepeatedCompositeFieldContainer[PresentedEligibility]
    def __init__(self, is_unchanged: _Optional[bool] = ..., snapshot: _Optional[_Union[EligibilitySnapshot, _Mapping]] = ..., presented: _Optional[_Iterable[_Union[PresentedEligibility, _Mapping]]] = ...) -> None: ...

class SelectCredentialRequest(_message.Message):
    __slots__ = ("action", "idempotency_key", "bindings", "eligibility", "presented", "expected_token_count", "max_wait", "required_credential_id")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_WAIT_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    idempotency_key: str
    bindings: _containers.RepeatedCompositeFieldContainer[_binding_pb2.BindingRef]
    eligibility: _eligibility_pb2.EligibilityRecord
    presented: _containers.RepeatedCompositeFieldContainer[_grant_pb2.PresentedIdentity]
    expected_token_count: int
    max_wait: _duration_pb2.Duration
    required_credential_id: str
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., idempotency_key: _Optional[str] = ..., bindings: _Optional[_Iterable[_Union[_binding_pb2.BindingRef, _Mapping]]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., presented: _Optional[_Iterable[_Union[_grant_pb2.PresentedIdentity, _Mapping]]] = ..., expected_token_count: _Optional[int] = ..., max_wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., required_credential_id: _Optional[str] = ...) -> None: ...

class SelectCredentialResponse(_message.Message):
    __slots__ = ("grant", "binding_index", "record")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    BINDING_INDEX_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    grant: _grant_pb2.CredentialGrant
    binding_index: int
    record: SelectionRecord
    def __init__(self, grant: _Optional[_Union[_grant_pb2.CredentialGrant, _Mapping]] = ..., binding_index: _Optional[int] = ..., record: _Optional[_Union[SelectionRecord, _Mapping]] = ...) -> None: ...

class AcquireSecretRequest(_message.Message):
    __slots__ = ("action", "grant_id", "selection", "rejected_version", "grant")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    REJECTED_VERSION_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    grant_id: str
    selection: SecretSelection
    rejected_version: int
    grant: _grant_pb2.CredentialGrant
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., grant_id: _Optional[str] = ..., selection: _Optional[_Union[SecretSelection, _Mapping]] = ..., rejected_version: _Optional[int] = ..., grant: _Optional[_Union[_grant_pb2.CredentialGrant, _Mapping]] = ...) -> None: ...

class AcquireSecretResponse(_message.Message):
    __slots__ = ("grant", "auth", "endpoint", "cache_until_time", "record")
    GRANT_FIELD_NUMBER: _ClassVar[int]
    AUTH_FIELD_NUMBER: _ClassVar[int]
    ENDPOINT_FIELD_NUMBER: _ClassVar[int]
    CACHE_UNTIL_TIME_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    grant: _grant_pb2.CredentialGrant
    auth: AuthMaterial
    endpoint: CredentialEndpoint
    cache_until_time: _timestamp_pb2.Timestamp
    record: SelectionRecord
    def __init__(self, grant: _Optional[_Union[_grant_pb2.CredentialGrant, _Mapping]] = ..., auth: _Optional[_Union[AuthMaterial, _Mapping]] = ..., endpoint: _Optional[_Union[CredentialEndpoint, _Mapping]] = ..., cache_until_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., record: _Optional[_Union[SelectionRecord, _Mapping]] = ...) -> None: ...

class ReportAttemptRequest(_message.Message):
    __slots__ = ("reports",)
    REPORTS_FIELD_NUMBER: _ClassVar[int]
    reports: _containers.RepeatedCompositeFieldContainer[AttemptReport]
    def __init__(self, reports: _Optional[_Iterable[_Union[AttemptReport, _Mapping]]] = ...) -> None: ...

class ReportAttemptResponse(_message.Message):
    __slots__ = ("results",)
    RESULTS_FIELD_NUMBER: _ClassVar[int]
    results: _containers.RepeatedCompositeFieldContainer[ReportResult]
    def __init__(self, results: _Optional[_Iterable[_Union[ReportResult, _Mapping]]] = ...) -> None: ...

class ResetQuotaRequest(_message.Message):
    __slots__ = ("credential_id", "model_id", "actor")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    model_id: str
    actor: str
    def __init__(self, credential_id: _Optional[str] = ..., model_id: _Optional[str] = ..., actor: _Optional[str] = ...) -> None: ...

class ResetQuotaResponse(_message.Message):
    __slots__ = ("credential", "transitions")
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    credential: Credential
    transitions: _containers.RepeatedCompositeFieldContainer[MarkTransition]
    def __init__(self, credential: _Optional[_Union[Credential, _Mapping]] = ..., transitions: _Optional[_Iterable[_Union[MarkTransition, _Mapping]]] = ...) -> None: ...

class ExplainSelectionRequest(_message.Message):
    __slots__ = ("idempotency_key", "selection")
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    idempotency_key: str
    selection: SelectCredentialRequest
    def __init__(self, idempotency_key: _Optional[str] = ..., selection: _Optional[_Union[SelectCredentialRequest, _Mapping]] = ...) -> None: ...

class ExplainSelectionResponse(_message.Message):
    __slots__ = ("record", "binding_index", "denial_reason", "retry_delay")
    RECORD_FIELD_NUMBER: _ClassVar[int]
    BINDING_INDEX_FIELD_NUMBER: _ClassVar[int]
    DENIAL_REASON_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    record: SelectionRecord
    binding_index: int
    denial_reason: str
    retry_delay: _duration_pb2.Duration
    def __init__(self, record: _Optional[_Union[SelectionRecord, _Mapping]] = ..., binding_index: _Optional[int] = ..., denial_reason: _Optional[str] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class ListCredentialsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "installation_id", "provider", "kind")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    installation_id: str
    provider: str
    kind: _grant_pb2.CredentialKind
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., installation_id: _Optional[str] = ..., provider: _Optional[str] = ..., kind: _Optional[_Union[_grant_pb2.CredentialKind, str]] = ...) -> None: ...

class ListCredentialsResponse(_message.Message):
    __slots__ = ("credentials", "next_page_token", "state_version")
    CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    credentials: _containers.RepeatedCompositeFieldContainer[Credential]
    next_page_token: str
    state_version: int
    def __init__(self, credentials: _Optional[_Iterable[_Union[Credential, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., state_version: _Optional[int] = ...) -> None: ...

class CreateCredentialRequest(_message.Message):
    __slots__ = ("idempotency_key", "spec", "secrets", "actor")
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    idempotency_key: str
    spec: CredentialSpec
    secrets: CredentialSecrets
    actor: str
    def __init__(self, idempotency_key: _Optional[str] = ..., spec: _Optional[_Union[CredentialSpec, _Mapping]] = ..., secrets: _Optional[_Union[CredentialSecrets, _Mapping]] = ..., actor: _Optional[str] = ...) -> None: ...

class CreateCredentialResponse(_message.Message):
    __slots__ = ("credential",)
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    credential: Credential
    def __init__(self, credential: _Optional[_Union[Credential, _Mapping]] = ...) -> None: ...

class UpdateCredentialRequest(_message.Message):
    __slots__ = ("credential_id", "expected_state_version", "spec", "update_mask", "secrets", "actor")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    UPDATE_MASK_FIELD_NUMBER: _ClassVar[int]
    SECRETS_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    expected_state_version: int
    spec: CredentialSpec
    update_mask: _field_mask_pb2.FieldMask
    secrets: CredentialSecrets
    actor: str
    def __init__(self, credential_id: _Optional[str] = ..., expected_state_version: _Optional[int] = ..., spec: _Optional[_Union[CredentialSpec, _Mapping]] = ..., update_mask: _Optional[_Union[_field_mask_pb2.FieldMask, _Mapping]] = ..., secrets: _Optional[_Union[CredentialSecrets, _Mapping]] = ..., actor: _Optional[str] = ...) -> None: ...

class UpdateCredentialResponse(_message.Message):
    __slots__ = ("credential",)
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    credential: Credential
    def __init__(self, credential: _Optional[_Union[Credential, _Mapping]] = ...) -> None: ...

class DeleteCredentialRequest(_message.Message):
    __slots__ = ("credential_id", "expected_state_version", "actor")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    expected_state_version: int
    actor: str
    def __init__(self, credential_id: _Optional[str] = ..., expected_state_version: _Optional[int] = ..., actor: _Optional[str] = ...) -> None: ...

class DeleteCredentialResponse(_message.Message):
    __slots__ = ("open_grant_count",)
    OPEN_GRANT_COUNT_FIELD_NUMBER: _ClassVar[int]
    open_grant_count: int
    def __init__(self, open_grant_count: _Optional[int] = ...) -> None: ...

class ReencryptCredentialsRequest(_message.Message):
    __slots__ = ("actor",)
    ACTOR_FIELD_NUMBER: _ClassVar[int]
    actor: str
    def __init__(self, actor: _Optional[str] = ...) -> None: ...

class ReencryptCredentialsResponse(_message.Message):
    __slots__ = ("changed_count", "kept_count", "unreadable_count")
    CHANGED_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    changed_count: int
    kept_count: int
    unreadable_count: int
    def __init__(self, changed_count: _Optional[int] = ..., kept_count: _Optional[int] = ..., unreadable_count: _Optional[int] = ...) -> None: ...

class WatchCredentialsRequest(_message.Message):
    __slots__ = ("installation_id", "resume_token", "wants_snapshot", "wants_eligibility", "wants_credentials")
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    WANTS_SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    WANTS_ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    WANTS_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    installation_id: str
    resume_token: str
    wants_snapshot: bool
    wants_eligibility: bool
    wants_credentials: bool
    def __init__(self, installation_id: _Optional[str] = ..., resume_token: _Optional[str] = ..., wants_snapshot: _Optional[bool] = ..., wants_eligibility: _Optional[bool] = ..., wants_credentials: _Optional[bool] = ...) -> None: ...

class WatchCredentialsResponse(_message.Message):
    __slots__ = ("eligibility", "credential", "deleted_credential_id", "transition", "snapshot_end", "resume_token", "installation_id")
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    DELETED_CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    TRANSITION_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_END_FIELD_NUMBER: _ClassVar[int]
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    eligibility: EligibilitySnapshot
    credential: Credential
    deleted_credential_id: str
    transition: MarkTransition
    snapshot_end: SnapshotEnd
    resume_token: str
    installation_id: str
    def __init__(self, eligibility: _Optional[_Union[EligibilitySnapshot, _Mapping]] = ..., credential: _Optional[_Union[Credential, _Mapping]] = ..., deleted_credential_id: _Optional[str] = ..., transition: _Optional[_Union[MarkTransition, _Mapping]] = ..., snapshot_end: _Optional[_Union[SnapshotEnd, _Mapping]] = ..., resume_token: _Optional[str] = ..., installation_id: _Optional[str] = ...) -> None: ...

class EligibilitySnapshot(_message.Message):
    __slots__ = ("installation_id", "version", "providers", "plans", "is_gateway_exclusive", "gateway_aliases", "refusals", "has_tenant_credentials", "passed_over_fingerprints")
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    PLANS_FIELD_NUMBER: _ClassVar[int]
    IS_GATEWAY_EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_ALIASES_FIELD_NUMBER: _ClassVar[int]
    REFUSALS_FIELD_NUMBER: _ClassVar[int]
    HAS_TENANT_CREDENTIALS_FIELD_NUMBER: _ClassVar[int]
    PASSED_OVER_FINGERPRINTS_FIELD_NUMBER: _ClassVar[int]
    installation_id: str
    version: str
    providers: _containers.RepeatedCompositeFieldContainer[_eligibility_pb2.ProviderEligibility]
    plans: _containers.RepeatedCompositeFieldContainer[LinkedPlan]
    is_gateway_exclusive: bool
    gateway_aliases: _containers.RepeatedCompositeFieldContainer[_eligibility_pb2.GatewayAliases]
    refusals: _containers.RepeatedCompositeFieldContainer[EndpointRefusal]
    has_tenant_credentials: bool
    passed_over_fingerprints: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, installation_id: _Optional[str] = ..., version: _Optional[str] = ..., providers: _Optional[_Iterable[_Union[_eligibility_pb2.ProviderEligibility, _Mapping]]] = ..., plans: _Optional[_Iterable[_Union[LinkedPlan, _Mapping]]] = ..., is_gateway_exclusive: _Optional[bool] = ..., gateway_aliases: _Optional[_Iterable[_Union[_eligibility_pb2.GatewayAliases, _Mapping]]] = ..., refusals: _Optional[_Iterable[_Union[EndpointRefusal, _Mapping]]] = ..., has_tenant_credentials: _Optional[bool] = ..., passed_over_fingerprints: _Optional[_Iterable[str]] = ...) -> None: ...

class LinkedPlan(_message.Message):
    __slots__ = ("user_id", "plan")
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    user_id: str
    plan: _eligibility_pb2.PlanState
    def __init__(self, user_id: _Optional[str] = ..., plan: _Optional[_Union[_eligibility_pb2.PlanState, _Mapping]] = ...) -> None: ...

class PresentedEligibility(_message.Message):
    __slots__ = ("identity", "plan", "availability", "recover_time")
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    RECOVER_TIME_FIELD_NUMBER: _ClassVar[int]
    identity: _grant_pb2.PresentedIdentity
    plan: _eligibility_pb2.PlanState
    availability: _eligibility_pb2.ProviderAvailability
    recover_time: _timestamp_pb2.Timestamp
    def __init__(self, identity: _Optional[_Union[_grant_pb2.PresentedIdentity, _Mapping]] = ..., plan: _Optional[_Union[_eligibility_pb2.PlanState, _Mapping]] = ..., availability: _Optional[_Union[_eligibility_pb2.ProviderAvailability, str]] = ..., recover_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SecretSelection(_message.Message):
    __slots__ = ("idempotency_key", "binding", "purpose", "eligibility", "tried", "suppressed_plans", "expected_token_count", "required_credential_id")
    IDEMPOTENCY_KEY_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    TRIED_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_PLANS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    idempotency_key: str
    binding: _binding_pb2.BindingRef
    purpose: SecretPurpose
    eligibility: _eligibility_pb2.EligibilityRecord
    tried: _containers.RepeatedScalarFieldContainer[str]
    suppressed_plans: _containers.RepeatedCompositeFieldContainer[_grant_pb2.SuppressedPlan]
    expected_token_count: int
    required_credential_id: str
    def __init__(self, idempotency_key: _Optional[str] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., purpose: _Optional[_Union[SecretPurpose, str]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., tried: _Optional[_Iterable[str]] = ..., suppressed_plans: _Optional[_Iterable[_Union[_grant_pb2.SuppressedPlan, _Mapping]]] = ..., expected_token_count: _Optional[int] = ..., required_credential_id: _Optional[str] = ...) -> None: ...

class EndpointRefusal(_message.Message):
    __slots__ = ("provider", "credential_fingerprint", "model_id", "expire_time")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    provider: str
    credential_fingerprint: str
    model_id: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, provider: _Optional[str] = ..., credential_fingerprint: _Optional[str] = ..., model_id: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class SelectionRecord(_message.Message):
    __slots__ = ("state_version", "fingerprint", "bucket", "priority", "strategy", "is_affinity_hit", "candidate_count", "eligible_count", "verdicts", "elapsed")
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    BUCKET_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    IS_AFFINITY_HIT_FIELD_NUMBER: _ClassVar[int]
    CANDIDATE_COUNT_FIELD_NUMBER: _ClassVar[int]
    ELIGIBLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    VERDICTS_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_FIELD_NUMBER: _ClassVar[int]
    state_version: int
    fingerprint: str
    bucket: _grant_pb2.CredentialBucket
    priority: int
    strategy: SelectionStrategy
    is_affinity_hit: bool
    candidate_count: int
    eligible_count: int
    verdicts: _containers.RepeatedCompositeFieldContainer[CandidateVerdict]
    elapsed: _duration_pb2.Duration
    def __init__(self, state_version: _Optional[int] = ..., fingerprint: _Optional[str] = ..., bucket: _Optional[_Union[_grant_pb2.CredentialBucket, str]] = ..., priority: _Optional[int] = ..., strategy: _Optional[_Union[SelectionStrategy, str]] = ..., is_affinity_hit: _Optional[bool] = ..., candidate_count: _Optional[int] = ..., eligible_count: _Optional[int] = ..., verdicts: _Optional[_Iterable[_Union[CandidateVerdict, _Mapping]]] = ..., elapsed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class CandidateVerdict(_message.Message):
    __slots__ = ("fingerprint", "verdict", "window", "expire_time")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    verdict: VerdictKind
    window: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, fingerprint: _Optional[str] = ..., verdict: _Optional[_Union[VerdictKind, str]] = ..., window: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AuthMaterial(_message.Message):
    __slots__ = ("scheme", "value_secret", "account_id", "project_id", "headers", "header_name")
    SCHEME_FIELD_NUMBER: _ClassVar[int]
    VALUE_SECRET_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    HEADER_NAME_FIELD_NUMBER: _ClassVar[int]
    scheme: AuthScheme
    value_secret: str
    account_id: str
    project_id: str
    headers: _containers.RepeatedCompositeFieldContainer[AuthHeader]
    header_name: str
    def __init__(self, scheme: _Optional[_Union[AuthScheme, str]] = ..., value_secret: _Optional[str] = ..., account_id: _Optional[str] = ..., project_id: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[AuthHeader, _Mapping]]] = ..., header_name: _Optional[str] = ...) -> None: ...

class AuthHeader(_message.Message):
    __slots__ = ("name", "value_secret")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUE_SECRET_FIELD_NUMBER: _ClassVar[int]
    name: str
    value_secret: str
    def __init__(self, name: _Optional[str] = ..., value_secret: _Optional[str] = ...) -> None: ...

class CredentialEndpoint(_message.Message):
    __slots__ = ("base_url", "proxy_url_secret", "identity_header_name", "identity_format", "is_quota_header_trusted", "is_tenant_given")
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    PROXY_URL_SECRET_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_HEADER_NAME_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FORMAT_FIELD_NUMBER: _ClassVar[int]
    IS_QUOTA_HEADER_TRUSTED_FIELD_NUMBER: _ClassVar[int]
    IS_TENANT_GIVEN_FIELD_NUMBER: _ClassVar[int]
    base_url: str
    proxy_url_secret: str
    identity_header_name: str
    identity_format: IdentityFormat
    is_quota_header_trusted: bool
    is_tenant_given: bool
    def __init__(self, base_url: _Optional[str] = ..., proxy_url_secret: _Optional[str] = ..., identity_header_name: _Optional[str] = ..., identity_format: _Optional[_Union[IdentityFormat, str]] = ..., is_quota_header_trusted: _Optional[bool] = ..., is_tenant_given: _Optional[bool] = ...) -> None: ...

class AttemptReport(_message.Message):
    __slots__ = ("grant_id", "action_id", "attempt_number", "sequence_number", "credential_id", "credential_version", "presented_hash", "binding", "send_time", "headers", "alive", "ended")
    GRANT_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_NUMBER_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_VERSION_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_HASH_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    SEND_TIME_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    ALIVE_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    grant_id: str
    action_id: str
    attempt_number: int
    sequence_number: int
    credential_id: str
    credential_version: int
    presented_hash: str
    binding: _binding_pb2.BindingRef
    send_time: _timestamp_pb2.Timestamp
    headers: AttemptHeaders
    alive: AttemptAlive
    ended: AttemptEnded
    def __init__(self, grant_id: _Optional[str] = ..., action_id: _Optional[str] = ..., attempt_number: _Optional[int] = ..., sequence_number: _Optional[int] = ..., credential_id: _Optional[str] = ..., credential_version: _Optional[int] = ..., presented_hash: _Optional[str] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., send_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., headers: _Optional[_Union[AttemptHeaders, _Mapping]] = ..., alive: _Optional[_Union[AttemptAlive, _Mapping]] = ..., ended: _Optional[_Union[AttemptEnded, _Mapping]] = ...) -> None: ...

class AttemptHeaders(_message.Message):
    __slots__ = ("http_status", "headers", "receive_time")
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_TIME_FIELD_NUMBER: _ClassVar[int]
    http_status: int
    headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    receive_time: _timestamp_pb2.Timestamp
    def __init__(self, http_status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., receive_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AttemptEnded(_message.Message):
    __slots__ = ("kind", "http_status", "headers", "error_body", "is_challenge_page", "refused_feature", "is_model_not_found", "end_time")
    KIND_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    ERROR_BODY_FIELD_NUMBER: _ClassVar[int]
    IS_CHALLENGE_PAGE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FEATURE_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_NOT_FOUND_FIELD_NUMBER: _ClassVar[int]
    END_TIME_FIELD_NUMBER: _ClassVar[int]
    kind: EndKind
    http_status: int
    headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    error_body: bytes
    is_challenge_page: bool
    refused_feature: str
    is_model_not_found: bool
    end_time: _timestamp_pb2.Timestamp
    def __init__(self, kind: _Optional[_Union[EndKind, str]] = ..., http_status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., error_body: _Optional[bytes] = ..., is_challenge_page: _Optional[bool] = ..., refused_feature: _Optional[str] = ..., is_model_not_found: _Optional[bool] = ..., end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class AttemptAlive(_message.Message):
    __slots__ = ("last_byte_time",)
    LAST_BYTE_TIME_FIELD_NUMBER: _ClassVar[int]
    last_byte_time: _timestamp_pb2.Timestamp
    def __init__(self, last_byte_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class ReportResult(_message.Message):
    __slots__ = ("outcome", "transitions")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    TRANSITIONS_FIELD_NUMBER: _ClassVar[int]
    outcome: ReportOutcome
    transitions: _containers.RepeatedCompositeFieldContainer[MarkTransition]
    def __init__(self, outcome: _Optional[_Union[ReportOutcome, str]] = ..., transitions: _Optional[_Iterable[_Union[MarkTransition, _Mapping]]] = ...) -> None: ...

class MarkTransition(_message.Message):
    __slots__ = ("fingerprint", "mark", "is_cleared", "cause", "state_version")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    IS_CLEARED_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    mark: CredentialMark
    is_cleared: bool
    cause: TransitionCause
    state_version: int
    def __init__(self, fingerprint: _Optional[str] = ..., mark: _Optional[_Union[CredentialMark, _Mapping]] = ..., is_cleared: _Optional[bool] = ..., cause: _Optional[_Union[TransitionCause, str]] = ..., state_version: _Optional[int] = ...) -> None: ...

class CredentialMark(_message.Message):
    __slots__ = ("kind", "window", "model_id", "feature", "expire_time", "observe_time", "level", "utilization_ratio", "family")
    KIND_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    FEATURE_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    OBSERVE_TIME_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_RATIO_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    kind: MarkKind
    window: str
    model_id: str
    feature: str
    expire_time: _timestamp_pb2.Timestamp
    observe_time: _timestamp_pb2.Timestamp
    level: int
    utilization_ratio: float
    family: str
    def __init__(self, kind: _Optional[_Union[MarkKind, str]] = ..., window: _Optional[str] = ..., model_id: _Optional[str] = ..., feature: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., observe_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., level: _Optional[int] = ..., utilization_ratio: _Optional[float] = ..., family: _Optional[str] = ...) -> None: ...

class Credential(_message.Message):
    __slots__ = ("credential_id", "fingerprint", "spec", "system_state", "origin", "marks", "in_flight_count", "secret_suffix", "token_expire_time", "plan", "plan_expire_time", "credential_version", "state_version", "create_time", "update_time")
    CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    SPEC_FIELD_NUMBER: _ClassVar[int]
    SYSTEM_STATE_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    MARKS_FIELD_NUMBER: _ClassVar[int]
    IN_FLIGHT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SECRET_SUFFIX_FIELD_NUMBER: _ClassVar[int]
    TOKEN_EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    PLAN_EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_VERSION_FIELD_NUMBER: _ClassVar[int]
    STATE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    UPDATE_TIME_FIELD_NUMBER: _ClassVar[int]
    credential_id: str
    fingerprint: str
    spec: CredentialSpec
    system_state: SystemState
    origin: CredentialOrigin
    marks: _containers.RepeatedCompositeFieldContainer[CredentialMark]
    in_flight_count: int
    secret_suffix: str
    token_expire_time: _timestamp_pb2.Timestamp
    plan: str
    plan_expire_time: _timestamp_pb2.Timestamp
    credential_version: int
    state_version: int
    create_time: _timestamp_pb2.Timestamp
    update_time: _timestamp_pb2.Timestamp
    def __init__(self, credential_id: _Optional[str] = ..., fingerprint: _Optional[str] = ..., spec: _Optional[_Union[CredentialSpec, _Mapping]] = ..., system_state: _Optional[_Union[SystemState, str]] = ..., origin: _Optional[_Union[CredentialOrigin, str]] = ..., marks: _Optional[_Iterable[_Union[CredentialMark, _Mapping]]] = ..., in_flight_count: _Optional[int] = ..., secret_suffix: _Optional[str] = ..., token_expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., plan: _Optional[str] = ..., plan_expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., credential_version: _Optional[int] = ..., state_version: _Optional[int] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., update_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CredentialSpec(_message.Message):
    __slots__ = ("installation_id", "provider", "kind", "label", "account", "is_enabled", "priority", "weight", "model_ids", "excluded_model_patterns", "upstream_id_by_model", "model_prefix", "base_url", "max_in_flight_count", "max_in_flight_count_per_model", "overage", "cooling", "is_overage_window_family_scoped", "is_quota_header_trusted", "identity_header_name", "identity_format")
    class UpstreamIdByModelEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_FIELD_NUMBER: _ClassVar[int]
    IS_ENABLED_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_MODEL_PATTERNS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_ID_BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_PREFIX_FIELD_NUMBER: _ClassVar[int]
    BASE_URL_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_IN_FLIGHT_COUNT_PER_MODEL_FIELD_NUMBER: _ClassVar[int]
    OVERAGE_FIELD_NUMBER: _ClassVar[int]
    COOLING_FIELD_NUMBER: _ClassVar[int]
    IS_OVERAGE_WINDOW_FAMILY_SCOPED_FIELD_NUMBER: _ClassVar[int]
    IS_QUOTA_HEADER_TRUSTED_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_HEADER_NAME_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FORMAT_FIELD_NUMBER: _ClassVar[int]
    installation_id: str
    provider: str
    kind: _grant_pb2.CredentialKind
    label: str
    account: str
    is_enabled: bool
    priority: int
    weight: int
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    excluded_model_patterns: _containers.RepeatedScalarFieldContainer[str]
    upstream_id_by_model: _containers.ScalarMap[str, str]
    model_prefix: str
    base_url: str
    max_in_flight_count: int
    max_in_flight_count_per_model: int
    overage: OveragePolicy
    cooling: CoolingPolicy
    is_overage_window_family_scoped: bool
    is_quota_header_trusted: bool
    identity_header_name: str
    identity_format: IdentityFormat
    def __init__(self, installation_id: _Optional[str] = ..., provider: _Optional[str] = ..., kind: _Optional[_Union[_grant_pb2.CredentialKind, str]] = ..., label: _Optional[str] = ..., account: _Optional[str] = ..., is_enabled: _Optional[bool] = ..., priority: _Optional[int] = ..., weight: _Optional[int] = ..., model_ids: _Optional[_Iterable[str]] = ..., excluded_model_patterns: _Optional[_Iterable[str]] = ..., upstream_id_by_model: _Optional[_Mapping[str, str]] = ..., model_prefix: _Optional[str] = ..., base_url: _Optional[str] = ..., max_in_flight_count: _Optional[int] = ..., max_in_flight_count_per_model: _Optional[int] = ..., overage: _Optional[_Union[OveragePolicy, str]] = ..., cooling: _Optional[_Union[CoolingPolicy, str]] = ..., is_overage_window_family_scoped: _Optional[bool] = ..., is_quota_header_trusted: _Optional[bool] = ..., identity_header_name: _Optional[str] = ..., identity_format: _Optional[_Union[IdentityFormat, str]] = ...) -> None: ...

class CredentialSecrets(_message.Message):
    __slots__ = ("value_secret", "refresh_token_secret", "id_token_secret", "expire_time", "account_id", "project_id", "headers", "proxy_url_secret")
    VALUE_SECRET_FIELD_NUMBER: _ClassVar[int]
    REFRESH_TOKEN_SECRET_FIELD_NUMBER: _ClassVar[int]
    ID_TOKEN_SECRET_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    PROXY_URL_SECRET_FIELD_NUMBER: _ClassVar[int]
    value_secret: str
    refresh_token_secret: str
    id_token_secret: str
    expire_time: _timestamp_pb2.Timestamp
    account_id: str
    project_id: str
    headers: _containers.RepeatedCompositeFieldContainer[AuthHeader]
    proxy_url_secret: str
    def __init__(self, value_secret: _Optional[str] = ..., refresh_token_secret: _Optional[str] = ..., id_token_secret: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., account_id: _Optional[str] = ..., project_id: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[AuthHeader, _Mapping]]] = ..., proxy_url_secret: _Optional[str] = ...) -> None: ...

class SnapshotEnd(_message.Message):
    __slots__ = ("credential_count", "eligibility_count")
    CREDENTIAL_COUNT_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_COUNT_FIELD_NUMBER: _ClassVar[int]
    credential_count: int
    eligibility_count: int
    def __init__(self, credential_count: _Optional[int] = ..., eligibility_count: _Optional[int] = ...) -> None: ...
