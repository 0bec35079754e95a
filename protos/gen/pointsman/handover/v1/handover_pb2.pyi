import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import attempt_pb2 as _attempt_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import conversation_pb2 as _conversation_pb2
from pointsman.common.v1 import eligibility_pb2 as _eligibility_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class SummaryKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_KIND_UNSPECIFIED: _ClassVar[SummaryKind]
    SUMMARY_KIND_SWITCH: _ClassVar[SummaryKind]
    SUMMARY_KIND_CLIENT_TRIM: _ClassVar[SummaryKind]

class SummaryOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SUMMARY_OUTCOME_UNSPECIFIED: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_SUMMARIZED: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_REUSED: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_TIMEOUT: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_EMPTY: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_UPSTREAM_FAILED: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_TENANT_BOUNDARY: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_NO_MODEL: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_NOT_CONFIGURED: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_TOO_SMALL: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_NO_USER_MESSAGE: _ClassVar[SummaryOutcome]
    SUMMARY_OUTCOME_FAILED: _ClassVar[SummaryOutcome]

class CompactionOutcome(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMPACTION_OUTCOME_UNSPECIFIED: _ClassVar[CompactionOutcome]
    COMPACTION_OUTCOME_NOT_ENGAGED: _ClassVar[CompactionOutcome]
    COMPACTION_OUTCOME_DEFERRED: _ClassVar[CompactionOutcome]
    COMPACTION_OUTCOME_APPLIED: _ClassVar[CompactionOutcome]
    COMPACTION_OUTCOME_CONTEXT_WINDOW_EXCEEDED: _ClassVar[CompactionOutcome]

class CredentialScope(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CREDENTIAL_SCOPE_UNSPECIFIED: _ClassVar[CredentialScope]
    CREDENTIAL_SCOPE_DEPLOYMENT: _ClassVar[CredentialScope]
    CREDENTIAL_SCOPE_TENANT: _ClassVar[CredentialScope]
    CREDENTIAL_SCOPE_CALLER: _ClassVar[CredentialScope]

class BudgetEvidence(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BUDGET_EVIDENCE_UNSPECIFIED: _ClassVar[BudgetEvidence]
    BUDGET_EVIDENCE_UNKNOWN: _ClassVar[BudgetEvidence]
    BUDGET_EVIDENCE_AMBIGUOUS_LONG_CONTEXT: _ClassVar[BudgetEvidence]
    BUDGET_EVIDENCE_HARNESS_DEFAULT: _ClassVar[BudgetEvidence]
SUMMARY_KIND_UNSPECIFIED: SummaryKind
SUMMARY_KIND_SWITCH: SummaryKind
SUMMARY_KIND_CLIENT_TRIM: SummaryKind
SUMMARY_OUTCOME_UNSPECIFIED: SummaryOutcome
SUMMARY_OUTCOME_SUMMARIZED: SummaryOutcome
SUMMARY_OUTCOME_REUSED: SummaryOutcome
SUMMARY_OUTCOME_TIMEOUT: SummaryOutcome
SUMMARY_OUTCOME_EMPTY: SummaryOutcome
SUMMARY_OUTCOME_UPSTREAM_FAILED: SummaryOutcome
SUMMARY_OUTCOME_TENANT_BOUNDARY: SummaryOutcome
SUMMARY_OUTCOME_NO_MODEL: SummaryOutcome
SUMMARY_OUTCOME_NOT_CONFIGURED: SummaryOutcome
SUMMARY_OUTCOME_TOO_SMALL: SummaryOutcome
SUMMARY_OUTCOME_NO_USER_MESSAGE: SummaryOutcome
SUMMARY_OUTCOME_FAILED: SummaryOutcome
COMPACTION_OUTCOME_UNSPECIFIED: CompactionOutcome
COMPACTION_OUTCOME_NOT_ENGAGED: CompactionOutcome
COMPACTION_OUTCOME_DEFERRED: CompactionOutcome
COMPACTION_OUTCOME_APPLIED: CompactionOutcome
COMPACTION_OUTCOME_CONTEXT_WINDOW_EXCEEDED: CompactionOutcome
CREDENTIAL_SCOPE_UNSPECIFIED: CredentialScope
CREDENTIAL_SCOPE_DEPLOYMENT: CredentialScope
CREDENTIAL_SCOPE_TENANT: CredentialScope
CREDENTIAL_SCOPE_CALLER: CredentialScope
BUDGET_EVIDENCE_UNSPECIFIED: BudgetEvidence
BUDGET_EVIDENCE_UNKNOWN: BudgetEvidence
BUDGET_EVIDENCE_AMBIGUOUS_LONG_CONTEXT: BudgetEvidence
BUDGET_EVIDENCE_HARNESS_DEFAULT: BudgetEvidence

class SummarizeRequest(_message.Message):
    __slots__ = ("action", "body", "features", "eligibility", "kind", "from_binding", "to_binding", "summarizers", "max_summary_token_count", "credential_scope", "stored", "first_attempt_number")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    FROM_BINDING_FIELD_NUMBER: _ClassVar[int]
    TO_BINDING_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZERS_FIELD_NUMBER: _ClassVar[int]
    MAX_SUMMARY_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_SCOPE_FIELD_NUMBER: _ClassVar[int]
    STORED_FIELD_NUMBER: _ClassVar[int]
    FIRST_ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    body: _conversation_pb2.RequestBody
    features: _action_pb2.RequestFeatures
    eligibility: _eligibility_pb2.EligibilityRecord
    kind: SummaryKind
    from_binding: _binding_pb2.BindingRef
    to_binding: _binding_pb2.BindingRef
    summarizers: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.PlannedBinding]
    max_summary_token_count: int
    credential_scope: CredentialScope
    stored: StoredSummary
    first_attempt_number: int
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., kind: _Optional[_Union[SummaryKind, str]] = ..., from_binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., to_binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., summarizers: _Optional[_Iterable[_Union[_attempt_pb2.PlannedBinding, _Mapping]]] = ..., max_summary_token_count: _Optional[int] = ..., credential_scope: _Optional[_Union[CredentialScope, str]] = ..., stored: _Optional[_Union[StoredSummary, _Mapping]] = ..., first_attempt_number: _Optional[int] = ...) -> None: ...

class SummarizeResponse(_message.Message):
    __slots__ = ("outcome", "body", "stored", "removed_message_count", "summary_token_count", "overflow_token_count", "attempts", "versions")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    STORED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    outcome: SummaryOutcome
    body: _conversation_pb2.RequestBody
    stored: StoredSummary
    removed_message_count: int
    summary_token_count: int
    overflow_token_count: int
    attempts: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.AttemptRecord]
    versions: _binding_pb2.Versions
    def __init__(self, outcome: _Optional[_Union[SummaryOutcome, str]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., stored: _Optional[_Union[StoredSummary, _Mapping]] = ..., removed_message_count: _Optional[int] = ..., summary_token_count: _Optional[int] = ..., overflow_token_count: _Optional[int] = ..., attempts: _Optional[_Iterable[_Union[_attempt_pb2.AttemptRecord, _Mapping]]] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class CompactRequest(_message.Message):
    __slots__ = ("action", "body", "features", "eligibility", "limits", "client_budget", "summarizers", "credential_scope", "is_authoritative_policy", "checkpoint", "first_attempt_number", "is_after_overflow")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    LIMITS_FIELD_NUMBER: _ClassVar[int]
    CLIENT_BUDGET_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZERS_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_SCOPE_FIELD_NUMBER: _ClassVar[int]
    IS_AUTHORITATIVE_POLICY_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    FIRST_ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    IS_AFTER_OVERFLOW_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    body: _conversation_pb2.RequestBody
    features: _action_pb2.RequestFeatures
    eligibility: _eligibility_pb2.EligibilityRecord
    limits: CompactionLimits
    client_budget: ClientBudget
    summarizers: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.PlannedBinding]
    credential_scope: CredentialScope
    is_authoritative_policy: bool
    checkpoint: CompactionCheckpoint
    first_attempt_number: int
    is_after_overflow: bool
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., limits: _Optional[_Union[CompactionLimits, _Mapping]] = ..., client_budget: _Optional[_Union[ClientBudget, _Mapping]] = ..., summarizers: _Optional[_Iterable[_Union[_attempt_pb2.PlannedBinding, _Mapping]]] = ..., credential_scope: _Optional[_Union[CredentialScope, str]] = ..., is_authoritative_policy: _Optional[bool] = ..., checkpoint: _Optional[_Union[CompactionCheckpoint, _Mapping]] = ..., first_attempt_number: _Optional[int] = ..., is_after_overflow: _Optional[bool] = ...) -> None: ...

class CompactResponse(_message.Message):
    __slots__ = ("outcome", "body", "cleared_tool_result_count", "is_summarized", "is_summary_reverted", "trimmed_message_count", "overflow_token_count", "summary_outcome", "checkpoint", "attempts", "versions")
    OUTCOME_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    CLEARED_TOOL_RESULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_SUMMARIZED_FIELD_NUMBER: _ClassVar[int]
    IS_SUMMARY_REVERTED_FIELD_NUMBER: _ClassVar[int]
    TRIMMED_MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_OUTCOME_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    outcome: CompactionOutcome
    body: _conversation_pb2.RequestBody
    cleared_tool_result_count: int
    is_summarized: bool
    is_summary_reverted: bool
    trimmed_message_count: int
    overflow_token_count: int
    summary_outcome: SummaryOutcome
    checkpoint: CompactionCheckpoint
    attempts: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.AttemptRecord]
    versions: _binding_pb2.Versions
    def __init__(self, outcome: _Optional[_Union[CompactionOutcome, str]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., cleared_tool_result_count: _Optional[int] = ..., is_summarized: _Optional[bool] = ..., is_summary_reverted: _Optional[bool] = ..., trimmed_message_count: _Optional[int] = ..., overflow_token_count: _Optional[int] = ..., summary_outcome: _Optional[_Union[SummaryOutcome, str]] = ..., checkpoint: _Optional[_Union[CompactionCheckpoint, _Mapping]] = ..., attempts: _Optional[_Iterable[_Union[_attempt_pb2.AttemptRecord, _Mapping]]] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class StoredSummary(_message.Message):
    __slots__ = ("text", "prefix_digest", "message_count", "summarizer", "instruction_version", "expire_time")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    PREFIX_DIGEST_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SUMMARIZER_FIELD_NUMBER: _ClassVar[int]
    INSTRUCTION_VERSION_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    text: str
    prefix_digest: bytes
    message_count: int
    summarizer: _binding_pb2.BindingRef
    instruction_version: str
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, text: _Optional[str] = ..., prefix_digest: _Optional[bytes] = ..., message_count: _Optional[int] = ..., summarizer: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., instruction_version: _Optional[str] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class CompactionLimits(_message.Message):
    __slots__ = ("max_window_token_count", "trigger_ratio", "output_reserve_token_count", "kept_tool_result_count", "kept_message_count", "max_summary_token_count", "clear_step_count")
    MAX_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_RESERVE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEPT_TOOL_RESULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    KEPT_MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_SUMMARY_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLEAR_STEP_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_window_token_count: int
    trigger_ratio: float
    output_reserve_token_count: int
    kept_tool_result_count: int
    kept_message_count: int
    max_summary_token_count: int
    clear_step_count: int
    def __init__(self, max_window_token_count: _Optional[int] = ..., trigger_ratio: _Optional[float] = ..., output_reserve_token_count: _Optional[int] = ..., kept_tool_result_count: _Optional[int] = ..., kept_message_count: _Optional[int] = ..., max_summary_token_count: _Optional[int] = ..., clear_step_count: _Optional[int] = ...) -> None: ...

class ClientBudget(_message.Message):
    __slots__ = ("evidence", "compact_threshold_token_count", "is_deferral_allowed")
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    COMPACT_THRESHOLD_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_DEFERRAL_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    evidence: BudgetEvidence
    compact_threshold_token_count: int
    is_deferral_allowed: bool
    def __init__(self, evidence: _Optional[_Union[BudgetEvidence, str]] = ..., compact_threshold_token_count: _Optional[int] = ..., is_deferral_allowed: _Optional[bool] = ...) -> None: ...

class CompactionCheckpoint(_message.Message):
    __slots__ = ("summary", "kept_message_count", "cleared_tool_result_count", "limits_digest")
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    KEPT_MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    CLEARED_TOOL_RESULT_COUNT_FIELD_NUMBER: _ClassVar[int]
    LIMITS_DIGEST_FIELD_NUMBER: _ClassVar[int]
    summary: StoredSummary
    kept_message_count: int
    cleared_tool_result_count: int
    limits_digest: bytes
    def __init__(self, summary: _Optional[_Union[StoredSummary, _Mapping]] = ..., kept_message_count: _Optional[int] = ..., cleared_tool_result_count: _Optional[int] = ..., limits_digest: _Optional[bytes] = ...) -> None: ...
