import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import attempt_pb2 as _attempt_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import conversation_pb2 as _conversation_pb2
from pointsman.common.v1 import eligibility_pb2 as _eligibility_pb2
from pointsman.common.v1 import grant_pb2 as _grant_pb2
from pointsman.common.v1 import header_pb2 as _header_pb2
from pointsman.common.v1 import usage_pb2 as _usage_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WalkStep(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WALK_STEP_UNSPECIFIED: _ClassVar[WalkStep]
    WALK_STEP_RETRY: _ClassVar[WalkStep]
    WALK_STEP_ROTATE: _ClassVar[WalkStep]
    WALK_STEP_HOP: _ClassVar[WalkStep]
    WALK_STEP_RESCUE: _ClassVar[WalkStep]
    WALK_STEP_END: _ClassVar[WalkStep]

class WalkEnd(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WALK_END_UNSPECIFIED: _ClassVar[WalkEnd]
    WALK_END_TERMINAL: _ClassVar[WalkEnd]
    WALK_END_EXHAUSTED: _ClassVar[WalkEnd]
    WALK_END_ATTEMPT_BUDGET: _ClassVar[WalkEnd]
    WALK_END_TIME_BUDGET: _ClassVar[WalkEnd]
    WALK_END_CANCELLED: _ClassVar[WalkEnd]

class RescueHealth(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RESCUE_HEALTH_UNSPECIFIED: _ClassVar[RescueHealth]
    RESCUE_HEALTH_HEALTHY: _ClassVar[RescueHealth]
    RESCUE_HEALTH_COOLING: _ClassVar[RescueHealth]

class SessionEffectKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SESSION_EFFECT_KIND_UNSPECIFIED: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_COOLDOWN: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_DEMOTE: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_COUNT_REFUSAL: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_EVICT_PIN: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_COUNT_OVERLOAD: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_CLEAR_COUNTS: _ClassVar[SessionEffectKind]
    SESSION_EFFECT_KIND_CORRECT_ESTIMATE: _ClassVar[SessionEffectKind]

class StatePlace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STATE_PLACE_UNSPECIFIED: _ClassVar[StatePlace]
    STATE_PLACE_CALL: _ClassVar[StatePlace]
    STATE_PLACE_BEFORE_CALL: _ClassVar[StatePlace]
    STATE_PLACE_AFTER_TEXT: _ClassVar[StatePlace]

class TransformAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TRANSFORM_ACTION_UNSPECIFIED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_DROPPED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_PROJECTED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_INLINED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_CLAMPED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_FLATTENED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_SYNTHESISED: _ClassVar[TransformAction]
    TRANSFORM_ACTION_PRESERVED: _ClassVar[TransformAction]

class CountSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COUNT_SOURCE_UNSPECIFIED: _ClassVar[CountSource]
    COUNT_SOURCE_UPSTREAM: _ClassVar[CountSource]
    COUNT_SOURCE_ESTIMATE: _ClassVar[CountSource]
WALK_STEP_UNSPECIFIED: WalkStep
WALK_STEP_RETRY: WalkStep
WALK_STEP_ROTATE: WalkStep
WALK_STEP_HOP: WalkStep
WALK_STEP_RESCUE: WalkStep
WALK_STEP_END: WalkStep
WALK_END_UNSPECIFIED: WalkEnd
WALK_END_TERMINAL: WalkEnd
WALK_END_EXHAUSTED: WalkEnd
WALK_END_ATTEMPT_BUDGET: WalkEnd
WALK_END_TIME_BUDGET: WalkEnd
WALK_END_CANCELLED: WalkEnd
RESCUE_HEALTH_UNSPECIFIED: RescueHealth
RESCUE_HEALTH_HEALTHY: RescueHealth
RESCUE_HEALTH_COOLING: RescueHealth
SESSION_EFFECT_KIND_UNSPECIFIED: SessionEffectKind
SESSION_EFFECT_KIND_COOLDOWN: SessionEffectKind
SESSION_EFFECT_KIND_DEMOTE: SessionEffectKind
SESSION_EFFECT_KIND_COUNT_REFUSAL: SessionEffectKind
SESSION_EFFECT_KIND_EVICT_PIN: SessionEffectKind
SESSION_EFFECT_KIND_COUNT_OVERLOAD: SessionEffectKind
SESSION_EFFECT_KIND_CLEAR_COUNTS: SessionEffectKind
SESSION_EFFECT_KIND_CORRECT_ESTIMATE: SessionEffectKind
STATE_PLACE_UNSPECIFIED: StatePlace
STATE_PLACE_CALL: StatePlace
STATE_PLACE_BEFORE_CALL: StatePlace
STATE_PLACE_AFTER_TEXT: StatePlace
TRANSFORM_ACTION_UNSPECIFIED: TransformAction
TRANSFORM_ACTION_DROPPED: TransformAction
TRANSFORM_ACTION_PROJECTED: TransformAction
TRANSFORM_ACTION_INLINED: TransformAction
TRANSFORM_ACTION_CLAMPED: TransformAction
TRANSFORM_ACTION_FLATTENED: TransformAction
TRANSFORM_ACTION_SYNTHESISED: TransformAction
TRANSFORM_ACTION_PRESERVED: TransformAction
COUNT_SOURCE_UNSPECIFIED: CountSource
COUNT_SOURCE_UPSTREAM: CountSource
COUNT_SOURCE_ESTIMATE: CountSource

class DispatchRequest(_message.Message):
    __slots__ = ("action", "body", "is_body_rewritten", "features", "eligibility", "plan", "relayed_headers", "identity", "kind", "is_more_read")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    IS_BODY_REWRITTEN_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    RELAYED_HEADERS_FIELD_NUMBER: _ClassVar[int]
    IDENTITY_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    IS_MORE_READ_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    body: _conversation_pb2.RequestBody
    is_body_rewritten: bool
    features: _action_pb2.RequestFeatures
    eligibility: _eligibility_pb2.EligibilityRecord
    plan: AttemptPlan
    relayed_headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    identity: ForwardedIdentity
    kind: _attempt_pb2.AttemptKind
    is_more_read: bool
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., is_body_rewritten: _Optional[bool] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., plan: _Optional[_Union[AttemptPlan, _Mapping]] = ..., relayed_headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., identity: _Optional[_Union[ForwardedIdentity, _Mapping]] = ..., kind: _Optional[_Union[_attempt_pb2.AttemptKind, str]] = ..., is_more_read: _Optional[bool] = ...) -> None: ...

class DispatchResponse(_message.Message):
    __slots__ = ("attempt_started", "attempt_failed", "head", "chunk", "tail", "failed", "more")
    ATTEMPT_STARTED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FAILED_FIELD_NUMBER: _ClassVar[int]
    HEAD_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    TAIL_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    MORE_FIELD_NUMBER: _ClassVar[int]
    attempt_started: AttemptStarted
    attempt_failed: AttemptFailed
    head: Head
    chunk: bytes
    tail: Tail
    failed: Failed
    more: _containers.RepeatedCompositeFieldContainer[DispatchResponse]
    def __init__(self, attempt_started: _Optional[_Union[AttemptStarted, _Mapping]] = ..., attempt_failed: _Optional[_Union[AttemptFailed, _Mapping]] = ..., head: _Optional[_Union[Head, _Mapping]] = ..., chunk: _Optional[bytes] = ..., tail: _Optional[_Union[Tail, _Mapping]] = ..., failed: _Optional[_Union[Failed, _Mapping]] = ..., more: _Optional[_Iterable[_Union[DispatchResponse, _Mapping]]] = ...) -> None: ...

class CountTokensRequest(_message.Message):
    __slots__ = ("action", "body", "binding", "eligibility", "grant", "relayed_headers")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    RELAYED_HEADERS_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    body: _conversation_pb2.RequestBody
    binding: _attempt_pb2.PlannedBinding
    eligibility: _eligibility_pb2.EligibilityRecord
    grant: _grant_pb2.CredentialGrant
    relayed_headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., body: _Optional[_Union[_conversation_pb2.RequestBody, _Mapping]] = ..., binding: _Optional[_Union[_attempt_pb2.PlannedBinding, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., grant: _Optional[_Union[_grant_pb2.CredentialGrant, _Mapping]] = ..., relayed_headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ...) -> None: ...

class CountTokensResponse(_message.Message):
    __slots__ = ("input_token_count", "source", "binding")
    INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    input_token_count: int
    source: CountSource
    binding: _binding_pb2.BindingRef
    def __init__(self, input_token_count: _Optional[int] = ..., source: _Optional[_Union[CountSource, str]] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ...) -> None: ...

class ListUpstreamModelsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "installation_id", "provider")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    installation_id: str
    provider: str
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., installation_id: _Optional[str] = ..., provider: _Optional[str] = ...) -> None: ...

class ListUpstreamModelsResponse(_message.Message):
    __slots__ = ("models", "next_page_token")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[UpstreamModel]
    next_page_token: str
    def __init__(self, models: _Optional[_Iterable[_Union[UpstreamModel, _Mapping]]] = ..., next_page_token: _Optional[str] = ...) -> None: ...

class UpstreamModel(_message.Message):
    __slots__ = ("upstream_id", "display_name", "context_window_token_count", "max_output_token_count", "model_id")
    UPSTREAM_ID_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_NAME_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    upstream_id: str
    display_name: str
    context_window_token_count: int
    max_output_token_count: int
    model_id: str
    def __init__(self, upstream_id: _Optional[str] = ..., display_name: _Optional[str] = ..., context_window_token_count: _Optional[int] = ..., max_output_token_count: _Optional[int] = ..., model_id: _Optional[str] = ...) -> None: ...

class AttemptPlan(_message.Message):
    __slots__ = ("bindings", "start_index", "grant", "presented", "rescues", "budget", "flags", "first_attempt_number", "affinity_key", "versions", "restored_states", "required_credential_id")
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    START_INDEX_FIELD_NUMBER: _ClassVar[int]
    GRANT_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_FIELD_NUMBER: _ClassVar[int]
    RESCUES_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    FLAGS_FIELD_NUMBER: _ClassVar[int]
    FIRST_ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    AFFINITY_KEY_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    RESTORED_STATES_FIELD_NUMBER: _ClassVar[int]
    REQUIRED_CREDENTIAL_ID_FIELD_NUMBER: _ClassVar[int]
    bindings: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.PlannedBinding]
    start_index: int
    grant: _grant_pb2.CredentialGrant
    presented: _containers.RepeatedCompositeFieldContainer[_grant_pb2.PresentedCredential]
    rescues: _containers.RepeatedCompositeFieldContainer[RescueCandidate]
    budget: AttemptBudget
    flags: PlanFlags
    first_attempt_number: int
    affinity_key: str
    versions: _binding_pb2.Versions
    restored_states: _containers.RepeatedCompositeFieldContainer[RestoredState]
    required_credential_id: str
    def __init__(self, bindings: _Optional[_Iterable[_Union[_attempt_pb2.PlannedBinding, _Mapping]]] = ..., start_index: _Optional[int] = ..., grant: _Optional[_Union[_grant_pb2.CredentialGrant, _Mapping]] = ..., presented: _Optional[_Iterable[_Union[_grant_pb2.PresentedCredential, _Mapping]]] = ..., rescues: _Optional[_Iterable[_Union[RescueCandidate, _Mapping]]] = ..., budget: _Optional[_Union[AttemptBudget, _Mapping]] = ..., flags: _Optional[_Union[PlanFlags, _Mapping]] = ..., first_attempt_number: _Optional[int] = ..., affinity_key: _Optional[str] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ..., restored_states: _Optional[_Iterable[_Union[RestoredState, _Mapping]]] = ..., required_credential_id: _Optional[str] = ...) -> None: ...

class RestoredState(_message.Message):
    __slots__ = ("place", "key", "sealed_state")
    PLACE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    SEALED_STATE_FIELD_NUMBER: _ClassVar[int]
    place: StatePlace
    key: str
    sealed_state: str
    def __init__(self, place: _Optional[_Union[StatePlace, str]] = ..., key: _Optional[str] = ..., sealed_state: _Optional[str] = ...) -> None: ...

class RescueCandidate(_message.Message):
    __slots__ = ("cause", "bindings", "health", "cooldown_end_time", "is_other_provider", "is_model_switch", "suppressed_plans")
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    COOLDOWN_END_TIME_FIELD_NUMBER: _ClassVar[int]
    IS_OTHER_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_SWITCH_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_PLANS_FIELD_NUMBER: _ClassVar[int]
    cause: _attempt_pb2.AttemptCause
    bindings: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.PlannedBinding]
    health: RescueHealth
    cooldown_end_time: _timestamp_pb2.Timestamp
    is_other_provider: bool
    is_model_switch: bool
    suppressed_plans: _containers.RepeatedCompositeFieldContainer[_grant_pb2.SuppressedPlan]
    def __init__(self, cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., bindings: _Optional[_Iterable[_Union[_attempt_pb2.PlannedBinding, _Mapping]]] = ..., health: _Optional[_Union[RescueHealth, str]] = ..., cooldown_end_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., is_other_provider: _Optional[bool] = ..., is_model_switch: _Optional[bool] = ..., suppressed_plans: _Optional[_Iterable[_Union[_grant_pb2.SuppressedPlan, _Mapping]]] = ...) -> None: ...

class AttemptBudget(_message.Message):
    __slots__ = ("max_attempt_count", "same_binding_retry_count", "same_binding_duration", "pre_commit_duration", "max_throttle_wait", "max_rescue_count")
    MAX_ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    SAME_BINDING_RETRY_COUNT_FIELD_NUMBER: _ClassVar[int]
    SAME_BINDING_DURATION_FIELD_NUMBER: _ClassVar[int]
    PRE_COMMIT_DURATION_FIELD_NUMBER: _ClassVar[int]
    MAX_THROTTLE_WAIT_FIELD_NUMBER: _ClassVar[int]
    MAX_RESCUE_COUNT_FIELD_NUMBER: _ClassVar[int]
    max_attempt_count: int
    same_binding_retry_count: int
    same_binding_duration: _duration_pb2.Duration
    pre_commit_duration: _duration_pb2.Duration
    max_throttle_wait: _duration_pb2.Duration
    max_rescue_count: int
    def __init__(self, max_attempt_count: _Optional[int] = ..., same_binding_retry_count: _Optional[int] = ..., same_binding_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., pre_commit_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_throttle_wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., max_rescue_count: _Optional[int] = ...) -> None: ...

class PlanFlags(_message.Message):
    __slots__ = ("is_user_forced", "is_hard_pinned", "is_authoritative_policy", "is_subscription_only", "is_shadow", "is_gateway_exclusive", "is_model_switched", "is_throttle_wait_enabled", "is_cyber_refusal_retry_enabled", "is_responses_preferred", "is_stream_usage_wanted", "is_subscription_passthrough", "is_transient_cooling_enabled", "is_overload_struck")
    IS_USER_FORCED_FIELD_NUMBER: _ClassVar[int]
    IS_HARD_PINNED_FIELD_NUMBER: _ClassVar[int]
    IS_AUTHORITATIVE_POLICY_FIELD_NUMBER: _ClassVar[int]
    IS_SUBSCRIPTION_ONLY_FIELD_NUMBER: _ClassVar[int]
    IS_SHADOW_FIELD_NUMBER: _ClassVar[int]
    IS_GATEWAY_EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_SWITCHED_FIELD_NUMBER: _ClassVar[int]
    IS_THROTTLE_WAIT_ENABLED_FIELD_NUMBER: _ClassVar[int]
    IS_CYBER_REFUSAL_RETRY_ENABLED_FIELD_NUMBER: _ClassVar[int]
    IS_RESPONSES_PREFERRED_FIELD_NUMBER: _ClassVar[int]
    IS_STREAM_USAGE_WANTED_FIELD_NUMBER: _ClassVar[int]
    IS_SUBSCRIPTION_PASSTHROUGH_FIELD_NUMBER: _ClassVar[int]
    IS_TRANSIENT_COOLING_ENABLED_FIELD_NUMBER: _ClassVar[int]
    IS_OVERLOAD_STRUCK_FIELD_NUMBER: _ClassVar[int]
    is_user_forced: bool
    is_hard_pinned: bool
    is_authoritative_policy: bool
    is_subscription_only: bool
    is_shadow: bool
    is_gateway_exclusive: bool
    is_model_switched: bool
    is_throttle_wait_enabled: bool
    is_cyber_refusal_retry_enabled: bool
    is_responses_preferred: bool
    is_stream_usage_wanted: bool
    is_subscription_passthrough: bool
    is_transient_cooling_enabled: bool
    is_overload_struck: bool
    def __init__(self, is_user_forced: _Optional[bool] = ..., is_hard_pinned: _Optional[bool] = ..., is_authoritative_policy: _Optional[bool] = ..., is_subscription_only: _Optional[bool] = ..., is_shadow: _Optional[bool] = ..., is_gateway_exclusive: _Optional[bool] = ..., is_model_switched: _Optional[bool] = ..., is_throttle_wait_enabled: _Optional[bool] = ..., is_cyber_refusal_retry_enabled: _Optional[bool] = ..., is_responses_preferred: _Optional[bool] = ..., is_stream_usage_wanted: _Optional[bool] = ..., is_subscription_passthrough: _Optional[bool] = ..., is_transient_cooling_enabled: _Optional[bool] = ..., is_overload_struck: _Optional[bool] = ...) -> None: ...

class ForwardedIdentity(_message.Message):
    __slots__ = ("email", "account_id")
    EMAIL_FIELD_NUMBER: _ClassVar[int]
    ACCOUNT_ID_FIELD_NUMBER: _ClassVar[int]
    email: str
    account_id: str
    def __init__(self, email: _Optional[str] = ..., account_id: _Optional[str] = ...) -> None: ...

class AttemptStarted(_message.Message):
    __slots__ = ("attempt_number", "plan_index", "binding", "wire_family", "cause", "context_window_token_count", "credential", "wait")
    ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    PLAN_INDEX_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    attempt_number: int
    plan_index: int
    binding: _binding_pb2.BindingRef
    wire_family: _action_pb2.WireFamily
    cause: _attempt_pb2.AttemptCause
    context_window_token_count: int
    credential: _grant_pb2.CredentialAttribution
    wait: _duration_pb2.Duration
    def __init__(self, attempt_number: _Optional[int] = ..., plan_index: _Optional[int] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., context_window_token_count: _Optional[int] = ..., credential: _Optional[_Union[_grant_pb2.CredentialAttribution, _Mapping]] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class AttemptFailed(_message.Message):
    __slots__ = ("attempt", "next_step", "wait", "retry_delay", "vendor_type", "effect_if_rescued", "effect_if_unserved", "dropped_feature")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    VENDOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_IF_RESCUED_FIELD_NUMBER: _ClassVar[int]
    EFFECT_IF_UNSERVED_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FEATURE_FIELD_NUMBER: _ClassVar[int]
    attempt: _attempt_pb2.AttemptRecord
    next_step: WalkStep
    wait: _duration_pb2.Duration
    retry_delay: _duration_pb2.Duration
    vendor_type: str
    effect_if_rescued: SessionEffect
    effect_if_unserved: SessionEffect
    dropped_feature: str
    def __init__(self, attempt: _Optional[_Union[_attempt_pb2.AttemptRecord, _Mapping]] = ..., next_step: _Optional[_Union[WalkStep, str]] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., vendor_type: _Optional[str] = ..., effect_if_rescued: _Optional[_Union[SessionEffect, _Mapping]] = ..., effect_if_unserved: _Optional[_Union[SessionEffect, _Mapping]] = ..., dropped_feature: _Optional[str] = ...) -> None: ...

class SessionEffect(_message.Message):
    __slots__ = ("kind", "model_id", "provider", "duration")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    kind: SessionEffectKind
    model_id: str
    provider: str
    duration: _duration_pb2.Duration
    def __init__(self, kind: _Optional[_Union[SessionEffectKind, str]] = ..., model_id: _Optional[str] = ..., provider: _Optional[str] = ..., duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class Head(_message.Message):
    __slots__ = ("attempt_number", "binding", "wire_family", "http_status", "headers", "is_stream", "body_bytes", "context_window_token_count", "plan_index", "planned_provider", "cause", "credential", "is_fast_tier", "is_model_aliased", "transforms")
    ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    IS_STREAM_FIELD_NUMBER: _ClassVar[int]
    BODY_BYTES_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    PLAN_INDEX_FIELD_NUMBER: _ClassVar[int]
    PLANNED_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    IS_FAST_TIER_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_ALIASED_FIELD_NUMBER: _ClassVar[int]
    TRANSFORMS_FIELD_NUMBER: _ClassVar[int]
    attempt_number: int
    binding: _binding_pb2.BindingRef
    wire_family: _action_pb2.WireFamily
    http_status: int
    headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    is_stream: bool
    body_bytes: int
    context_window_token_count: int
    plan_index: int
    planned_provider: str
    cause: _attempt_pb2.AttemptCause
    credential: _grant_pb2.CredentialAttribution
    is_fast_tier: bool
    is_model_aliased: bool
    transforms: _containers.RepeatedCompositeFieldContainer[TransformRecord]
    def __init__(self, attempt_number: _Optional[int] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., http_status: _Optional[int] = ..., headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., is_stream: _Optional[bool] = ..., body_bytes: _Optional[int] = ..., context_window_token_count: _Optional[int] = ..., plan_index: _Optional[int] = ..., planned_provider: _Optional[str] = ..., cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., credential: _Optional[_Union[_grant_pb2.CredentialAttribution, _Mapping]] = ..., is_fast_tier: _Optional[bool] = ..., is_model_aliased: _Optional[bool] = ..., transforms: _Optional[_Iterable[_Union[TransformRecord, _Mapping]]] = ...) -> None: ...

class TransformRecord(_message.Message):
    __slots__ = ("code", "action", "path")
    CODE_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    code: str
    action: TransformAction
    path: str
    def __init__(self, code: _Optional[str] = ..., action: _Optional[_Union[TransformAction, str]] = ..., path: _Optional[str] = ...) -> None: ...

class Tail(_message.Message):
    __slots__ = ("attempt", "stop_reason", "failure", "refusal_seen", "attempt_count", "rescue_cause", "effect", "cache_lifetime", "tool_call_count", "invalid_tool_call_count", "sent_bytes", "max_gap", "pre_commit_duration", "dropped_feature")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_SEEN_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    RESCUE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    CACHE_LIFETIME_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    INVALID_TOOL_CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    SENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    MAX_GAP_FIELD_NUMBER: _ClassVar[int]
    PRE_COMMIT_DURATION_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FEATURE_FIELD_NUMBER: _ClassVar[int]
    attempt: _attempt_pb2.AttemptRecord
    stop_reason: _usage_pb2.StopReason
    failure: StreamFailure
    refusal_seen: bool
    attempt_count: int
    rescue_cause: _attempt_pb2.AttemptCause
    effect: SessionEffect
    cache_lifetime: _duration_pb2.Duration
    tool_call_count: int
    invalid_tool_call_count: int
    sent_bytes: int
    max_gap: _duration_pb2.Duration
    pre_commit_duration: _duration_pb2.Duration
    dropped_feature: str
    def __init__(self, attempt: _Optional[_Union[_attempt_pb2.AttemptRecord, _Mapping]] = ..., stop_reason: _Optional[_Union[_usage_pb2.StopReason, str]] = ..., failure: _Optional[_Union[StreamFailure, _Mapping]] = ..., refusal_seen: _Optional[bool] = ..., attempt_count: _Optional[int] = ..., rescue_cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., effect: _Optional[_Union[SessionEffect, _Mapping]] = ..., cache_lifetime: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., tool_call_count: _Optional[int] = ..., invalid_tool_call_count: _Optional[int] = ..., sent_bytes: _Optional[int] = ..., max_gap: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., pre_commit_duration: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., dropped_feature: _Optional[str] = ...) -> None: ...

class Failed(_message.Message):
    __slots__ = ("failure_class", "upstream_status", "body", "is_body_truncated", "headers", "retry_delay", "attempts", "rendered_attempt_number", "wire_family", "vendor_type", "is_caller_credential", "walk_end", "rescue_cause", "unbuildable_reason")
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_STATUS_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    IS_BODY_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    RENDERED_ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    VENDOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    IS_CALLER_CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    WALK_END_FIELD_NUMBER: _ClassVar[int]
    RESCUE_CAUSE_FIELD_NUMBER: _ClassVar[int]
    UNBUILDABLE_REASON_FIELD_NUMBER: _ClassVar[int]
    failure_class: _attempt_pb2.FailureClass
    upstream_status: int
    body: bytes
    is_body_truncated: bool
    headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    retry_delay: _duration_pb2.Duration
    attempts: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.AttemptRecord]
    rendered_attempt_number: int
    wire_family: _action_pb2.WireFamily
    vendor_type: str
    is_caller_credential: bool
    walk_end: WalkEnd
    rescue_cause: _attempt_pb2.AttemptCause
    unbuildable_reason: str
    def __init__(self, failure_class: _Optional[_Union[_attempt_pb2.FailureClass, str]] = ..., upstream_status: _Optional[int] = ..., body: _Optional[bytes] = ..., is_body_truncated: _Optional[bool] = ..., headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., attempts: _Optional[_Iterable[_Union[_attempt_pb2.AttemptRecord, _Mapping]]] = ..., rendered_attempt_number: _Optional[int] = ..., wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., vendor_type: _Optional[str] = ..., is_caller_credential: _Optional[bool] = ..., walk_end: _Optional[_Union[WalkEnd, str]] = ..., rescue_cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., unbuildable_reason: _Optional[str] = ...) -> None: ...

class StreamFailure(_message.Message):
    __slots__ = ("http_status", "vendor_type", "message", "is_error_frame_sent")
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    VENDOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    IS_ERROR_FRAME_SENT_FIELD_NUMBER: _ClassVar[int]
    http_status: int
    vendor_type: str
    message: str
    is_error_frame_sent: bool
    def __init__(self, http_status: _Optional[int] = ..., vendor_type: _Optional[str] = ..., message: _Optional[str] = ..., is_error_frame_sent: _Optional[bool] = ...) -> None: ...
