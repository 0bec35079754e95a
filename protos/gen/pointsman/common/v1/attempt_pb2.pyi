import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import grant_pb2 as _grant_pb2
from pointsman.common.v1 import usage_pb2 as _usage_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class AttemptKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ATTEMPT_KIND_UNSPECIFIED: _ClassVar[AttemptKind]
    ATTEMPT_KIND_SERVE: _ClassVar[AttemptKind]
    ATTEMPT_KIND_SWITCH_SUMMARY: _ClassVar[AttemptKind]
    ATTEMPT_KIND_COMPACTION_SUMMARY: _ClassVar[AttemptKind]
    ATTEMPT_KIND_TRIM_SUMMARY: _ClassVar[AttemptKind]
    ATTEMPT_KIND_COUNT_TOKENS: _ClassVar[AttemptKind]

class AttemptCause(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ATTEMPT_CAUSE_UNSPECIFIED: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_FIRST: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_RETRY: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_ROTATION: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_HOP: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_CYBER_REFUSAL: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_BASELINE: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_CLAUDE_PLAN: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_CODEX_PLAN: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_LARGER_WINDOW: _ClassVar[AttemptCause]
    ATTEMPT_CAUSE_SIBLING: _ClassVar[AttemptCause]

class AttemptOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ATTEMPT_OUTCOME_UNSPECIFIED: _ClassVar[AttemptOutcome]
    ATTEMPT_OUTCOME_SERVED: _ClassVar[AttemptOutcome]
    ATTEMPT_OUTCOME_FAILED: _ClassVar[AttemptOutcome]
    ATTEMPT_OUTCOME_BROKEN: _ClassVar[AttemptOutcome]
    ATTEMPT_OUTCOME_SKIPPED: _ClassVar[AttemptOutcome]
    ATTEMPT_OUTCOME_ABORTED: _ClassVar[AttemptOutcome]

class FailureClass(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FAILURE_CLASS_UNSPECIFIED: _ClassVar[FailureClass]
    FAILURE_CLASS_UPSTREAM_STATUS: _ClassVar[FailureClass]
    FAILURE_CLASS_RATE_LIMITED: _ClassVar[FailureClass]
    FAILURE_CLASS_OVERLOADED: _ClassVar[FailureClass]
    FAILURE_CLASS_TRANSPORT: _ClassVar[FailureClass]
    FAILURE_CLASS_HEADER_TIMEOUT: _ClassVar[FailureClass]
    FAILURE_CLASS_STALL: _ClassVar[FailureClass]
    FAILURE_CLASS_STREAM_EMPTY: _ClassVar[FailureClass]
    FAILURE_CLASS_STREAM_INCOMPLETE: _ClassVar[FailureClass]
    FAILURE_CLASS_MODEL_NOT_FOUND: _ClassVar[FailureClass]
    FAILURE_CLASS_BILLING: _ClassVar[FailureClass]
    FAILURE_CLASS_AUTH: _ClassVar[FailureClass]
    FAILURE_CLASS_PLAN_EXHAUSTED: _ClassVar[FailureClass]
    FAILURE_CLASS_CAPABILITY: _ClassVar[FailureClass]
    FAILURE_CLASS_SCHEMA: _ClassVar[FailureClass]
    FAILURE_CLASS_SIGNATURE: _ClassVar[FailureClass]
    FAILURE_CLASS_CONTEXT_OVERFLOW: _ClassVar[FailureClass]
    FAILURE_CLASS_CYBER_REFUSAL: _ClassVar[FailureClass]
    FAILURE_CLASS_CONTENT_POLICY: _ClassVar[FailureClass]
    FAILURE_CLASS_REJECTED: _ClassVar[FailureClass]
    FAILURE_CLASS_PROVIDER_NOT_CONFIGURED: _ClassVar[FailureClass]
    FAILURE_CLASS_CREDENTIALS_COOLING: _ClassVar[FailureClass]
    FAILURE_CLASS_CREDENTIALS_DISABLED: _ClassVar[FailureClass]
    FAILURE_CLASS_NO_ELIGIBLE_PROVIDER: _ClassVar[FailureClass]
    FAILURE_CLASS_CREDENTIALS_UNREACHABLE: _ClassVar[FailureClass]
    FAILURE_CLASS_FORCED_MODEL_UNSERVABLE: _ClassVar[FailureClass]
    FAILURE_CLASS_UNBUILDABLE: _ClassVar[FailureClass]
    FAILURE_CLASS_CANCELLED: _ClassVar[FailureClass]
    FAILURE_CLASS_BAD_RESPONSE: _ClassVar[FailureClass]
ATTEMPT_KIND_UNSPECIFIED: AttemptKind
ATTEMPT_KIND_SERVE: AttemptKind
ATTEMPT_KIND_SWITCH_SUMMARY: AttemptKind
ATTEMPT_KIND_COMPACTION_SUMMARY: AttemptKind
ATTEMPT_KIND_TRIM_SUMMARY: AttemptKind
ATTEMPT_KIND_COUNT_TOKENS: AttemptKind
ATTEMPT_CAUSE_UNSPECIFIED: AttemptCause
ATTEMPT_CAUSE_FIRST: AttemptCause
ATTEMPT_CAUSE_RETRY: AttemptCause
ATTEMPT_CAUSE_ROTATION: AttemptCause
ATTEMPT_CAUSE_HOP: AttemptCause
ATTEMPT_CAUSE_CYBER_REFUSAL: AttemptCause
ATTEMPT_CAUSE_BASELINE: AttemptCause
ATTEMPT_CAUSE_CLAUDE_PLAN: AttemptCause
ATTEMPT_CAUSE_CODEX_PLAN: AttemptCause
ATTEMPT_CAUSE_LARGER_WINDOW: AttemptCause
ATTEMPT_CAUSE_SIBLING: AttemptCause
ATTEMPT_OUTCOME_UNSPECIFIED: AttemptOutcome
ATTEMPT_OUTCOME_SERVED: AttemptOutcome
ATTEMPT_OUTCOME_FAILED: AttemptOutcome
ATTEMPT_OUTCOME_BROKEN: AttemptOutcome
ATTEMPT_OUTCOME_SKIPPED: AttemptOutcome
ATTEMPT_OUTCOME_ABORTED: AttemptOutcome
FAILURE_CLASS_UNSPECIFIED: FailureClass
FAILURE_CLASS_UPSTREAM_STATUS: FailureClass
FAILURE_CLASS_RATE_LIMITED: FailureClass
FAILURE_CLASS_OVERLOADED: FailureClass
FAILURE_CLASS_TRANSPORT: FailureClass
FAILURE_CLASS_HEADER_TIMEOUT: FailureClass
FAILURE_CLASS_STALL: FailureClass
FAILURE_CLASS_STREAM_EMPTY: FailureClass
FAILURE_CLASS_STREAM_INCOMPLETE: FailureClass
FAILURE_CLASS_MODEL_NOT_FOUND: FailureClass
FAILURE_CLASS_BILLING: FailureClass
FAILURE_CLASS_AUTH: FailureClass
FAILURE_CLASS_PLAN_EXHAUSTED: FailureClass
FAILURE_CLASS_CAPABILITY: FailureClass
FAILURE_CLASS_SCHEMA: FailureClass
FAILURE_CLASS_SIGNATURE: FailureClass
FAILURE_CLASS_CONTEXT_OVERFLOW: FailureClass
FAILURE_CLASS_CYBER_REFUSAL: FailureClass
FAILURE_CLASS_CONTENT_POLICY: FailureClass
FAILURE_CLASS_REJECTED: FailureClass
FAILURE_CLASS_PROVIDER_NOT_CONFIGURED: FailureClass
FAILURE_CLASS_CREDENTIALS_COOLING: FailureClass
FAILURE_CLASS_CREDENTIALS_DISABLED: FailureClass
FAILURE_CLASS_NO_ELIGIBLE_PROVIDER: FailureClass
FAILURE_CLASS_CREDENTIALS_UNREACHABLE: FailureClass
FAILURE_CLASS_FORCED_MODEL_UNSERVABLE: FailureClass
FAILURE_CLASS_UNBUILDABLE: FailureClass
FAILURE_CLASS_CANCELLED: FailureClass
FAILURE_CLASS_BAD_RESPONSE: FailureClass

class PlannedBinding(_message.Message):
    __slots__ = ("binding", "wire_family", "context_window_token_count", "effort", "is_fast_allowed")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    IS_FAST_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    wire_family: _action_pb2.WireFamily
    context_window_token_count: int
    effort: str
    is_fast_allowed: bool
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., context_window_token_count: _Optional[int] = ..., effort: _Optional[str] = ..., is_fast_allowed: _Optional[bool] = ...) -> None: ...

class AttemptRecord(_message.Message):
    __slots__ = ("attempt_number", "kind", "binding", "plan_index", "cause", "wire_family", "credential", "outcome", "http_status", "usage", "is_fast_tier", "start_time", "header_latency", "first_output_latency", "total_latency", "send_count", "upstream_request_id", "failure_class")
    ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PLAN_INDEX_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    USAGE_FIELD_NUMBER: _ClassVar[int]
    IS_FAST_TIER_FIELD_NUMBER: _ClassVar[int]
    START_TIME_FIELD_NUMBER: _ClassVar[int]
    HEADER_LATENCY_FIELD_NUMBER: _ClassVar[int]
    FIRST_OUTPUT_LATENCY_FIELD_NUMBER: _ClassVar[int]
    TOTAL_LATENCY_FIELD_NUMBER: _ClassVar[int]
    SEND_COUNT_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    attempt_number: int
    kind: AttemptKind
    binding: _binding_pb2.BindingRef
    plan_index: int
    cause: AttemptCause
    wire_family: _action_pb2.WireFamily
    credential: _grant_pb2.CredentialAttribution
    outcome: AttemptOutcome
    http_status: int
    usage: _usage_pb2.Usage
    is_fast_tier: bool
    start_time: _timestamp_pb2.Timestamp
    header_latency: _duration_pb2.Duration
    first_output_latency: _duration_pb2.Duration
    total_latency: _duration_pb2.Duration
    send_count: int
    upstream_request_id: str
    failure_class: FailureClass
    def __init__(self, attempt_number: _Optional[int] = ..., kind: _Optional[_Union[AttemptKind, str]] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., plan_index: _Optional[int] = ..., cause: _Optional[_Union[AttemptCause, str]] = ..., wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., credential: _Optional[_Union[_grant_pb2.CredentialAttribution, _Mapping]] = ..., outcome: _Optional[_Union[AttemptOutcome, str]] = ..., http_status: _Optional[int] = ..., usage: _Optional[_Union[_usage_pb2.Usage, _Mapping]] = ..., is_fast_tier: _Optional[bool] = ..., start_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., header_latency: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., first_output_latency: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., total_latency: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., send_count: _Optional[int] = ..., upstream_request_id: _Optional[str] = ..., failure_class: _Optional[_Union[FailureClass, str]] = ...) -> None: ...
