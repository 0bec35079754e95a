import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import attempt_pb2 as _attempt_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import eligibility_pb2 as _eligibility_pb2
from pointsman.common.v1 import grant_pb2 as _grant_pb2
from pointsman.common.v1 import header_pb2 as _header_pb2
from pointsman.dispatch.v1 import dispatch_pb2 as _dispatch_pb2
from pointsman.planner.v1 import planner_pb2 as _planner_pb2
from pointsman.scorer.v1 import scorer_pb2 as _scorer_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DecisionPath(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DECISION_PATH_UNSPECIFIED: _ClassVar[DecisionPath]
    DECISION_PATH_REQUESTED: _ClassVar[DecisionPath]
    DECISION_PATH_SCORED: _ClassVar[DecisionPath]
    DECISION_PATH_STAY: _ClassVar[DecisionPath]
    DECISION_PATH_SWITCH: _ClassVar[DecisionPath]
    DECISION_PATH_STICKY: _ClassVar[DecisionPath]
    DECISION_PATH_HARD_PIN: _ClassVar[DecisionPath]
    DECISION_PATH_FORCED: _ClassVar[DecisionPath]
    DECISION_PATH_PASSTHROUGH: _ClassVar[DecisionPath]
    DECISION_PATH_POLICY: _ClassVar[DecisionPath]
    DECISION_PATH_DEGRADED: _ClassVar[DecisionPath]
    DECISION_PATH_ESCALATION: _ClassVar[DecisionPath]
    DECISION_PATH_REANCHOR: _ClassVar[DecisionPath]
DECISION_PATH_UNSPECIFIED: DecisionPath
DECISION_PATH_REQUESTED: DecisionPath
DECISION_PATH_SCORED: DecisionPath
DECISION_PATH_STAY: DecisionPath
DECISION_PATH_SWITCH: DecisionPath
DECISION_PATH_STICKY: DecisionPath
DECISION_PATH_HARD_PIN: DecisionPath
DECISION_PATH_FORCED: DecisionPath
DECISION_PATH_PASSTHROUGH: DecisionPath
DECISION_PATH_POLICY: DecisionPath
DECISION_PATH_DEGRADED: DecisionPath
DECISION_PATH_ESCALATION: DecisionPath
DECISION_PATH_REANCHOR: DecisionPath

class RouteRequest(_message.Message):
    __slots__ = ("surface", "body", "pin", "path_model", "headers", "wants_explanation")
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    PIN_FIELD_NUMBER: _ClassVar[int]
    PATH_MODEL_FIELD_NUMBER: _ClassVar[int]
    HEADERS_FIELD_NUMBER: _ClassVar[int]
    WANTS_EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    surface: _action_pb2.WireFamily
    body: bytes
    pin: _planner_pb2.Pin
    path_model: str
    headers: _containers.RepeatedCompositeFieldContainer[_header_pb2.HeaderField]
    wants_explanation: bool
    def __init__(self, surface: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., body: _Optional[bytes] = ..., pin: _Optional[_Union[_planner_pb2.Pin, _Mapping]] = ..., path_model: _Optional[str] = ..., headers: _Optional[_Iterable[_Union[_header_pb2.HeaderField, _Mapping]]] = ..., wants_explanation: _Optional[bool] = ...) -> None: ...

class RouteResponse(_message.Message):
    __slots__ = ("decision",)
    DECISION_FIELD_NUMBER: _ClassVar[int]
    decision: RouteDecision
    def __init__(self, decision: _Optional[_Union[RouteDecision, _Mapping]] = ...) -> None: ...

class ListModelsRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "is_servable_only")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    IS_SERVABLE_ONLY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    is_servable_only: bool
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., is_servable_only: _Optional[bool] = ...) -> None: ...

class ListModelsResponse(_message.Message):
    __slots__ = ("models", "next_page_token", "versions")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    next_page_token: str
    versions: _binding_pb2.Versions
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class WatchDecisionsRequest(_message.Message):
    __slots__ = ("session_key", "action_id", "wants_attempts", "wants_explanation", "installation_id")
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    WANTS_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    WANTS_EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    session_key: bytes
    action_id: str
    wants_attempts: bool
    wants_explanation: bool
    installation_id: str
    def __init__(self, session_key: _Optional[bytes] = ..., action_id: _Optional[str] = ..., wants_attempts: _Optional[bool] = ..., wants_explanation: _Optional[bool] = ..., installation_id: _Optional[str] = ...) -> None: ...

class WatchDecisionsResponse(_message.Message):
    __slots__ = ("decided", "attempted", "completed", "began", "shadowed", "missed_event_count")
    DECIDED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTED_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    BEGAN_FIELD_NUMBER: _ClassVar[int]
    SHADOWED_FIELD_NUMBER: _ClassVar[int]
    MISSED_EVENT_COUNT_FIELD_NUMBER: _ClassVar[int]
    decided: RouteDecision
    attempted: AttemptNotice
    completed: ActionResult
    began: AttemptBegin
    shadowed: ShadowNotice
    missed_event_count: int
    def __init__(self, decided: _Optional[_Union[RouteDecision, _Mapping]] = ..., attempted: _Optional[_Union[AttemptNotice, _Mapping]] = ..., completed: _Optional[_Union[ActionResult, _Mapping]] = ..., began: _Optional[_Union[AttemptBegin, _Mapping]] = ..., shadowed: _Optional[_Union[ShadowNotice, _Mapping]] = ..., missed_event_count: _Optional[int] = ...) -> None: ...

class RouteDecision(_message.Message):
    __slots__ = ("action_id", "decide_time", "turn_type", "requested_model", "binding", "plan", "rescue_model_ids", "reason", "path", "strategy", "score", "plan_action", "pin", "eligibility", "expected_cost_micro_usd", "requested_cost_micro_usd", "shadow", "versions", "verdict", "installation_id", "credential")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    DECIDE_TIME_FIELD_NUMBER: _ClassVar[int]
    TURN_TYPE_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    RESCUE_MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    PLAN_ACTION_FIELD_NUMBER: _ClassVar[int]
    PIN_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    decide_time: _timestamp_pb2.Timestamp
    turn_type: _action_pb2.TurnType
    requested_model: str
    binding: _binding_pb2.BindingRef
    plan: _containers.RepeatedCompositeFieldContainer[_attempt_pb2.PlannedBinding]
    rescue_model_ids: _containers.RepeatedScalarFieldContainer[str]
    reason: str
    path: DecisionPath
    strategy: str
    score: _scorer_pb2.ScoreResponse
    plan_action: _planner_pb2.PlanActionResponse
    pin: _planner_pb2.Pin
    eligibility: _eligibility_pb2.EligibilityRecord
    expected_cost_micro_usd: int
    requested_cost_micro_usd: int
    shadow: ShadowDecision
    versions: _binding_pb2.Versions
    verdict: _planner_pb2.Verdict
    installation_id: str
    credential: CredentialPreview
    def __init__(self, action_id: _Optional[str] = ..., decide_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., turn_type: _Optional[_Union[_action_pb2.TurnType, str]] = ..., requested_model: _Optional[str] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., plan: _Optional[_Iterable[_Union[_attempt_pb2.PlannedBinding, _Mapping]]] = ..., rescue_model_ids: _Optional[_Iterable[str]] = ..., reason: _Optional[str] = ..., path: _Optional[_Union[DecisionPath, str]] = ..., strategy: _Optional[str] = ..., score: _Optional[_Union[_scorer_pb2.ScoreResponse, _Mapping]] = ..., plan_action: _Optional[_Union[_planner_pb2.PlanActionResponse, _Mapping]] = ..., pin: _Optional[_Union[_planner_pb2.Pin, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., expected_cost_micro_usd: _Optional[int] = ..., requested_cost_micro_usd: _Optional[int] = ..., shadow: _Optional[_Union[ShadowDecision, _Mapping]] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ..., verdict: _Optional[_Union[_planner_pb2.Verdict, str]] = ..., installation_id: _Optional[str] = ..., credential: _Optional[_Union[CredentialPreview, _Mapping]] = ...) -> None: ...

class CredentialPreview(_message.Message):
    __slots__ = ("fingerprint", "plan_index", "denial_reason")
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    PLAN_INDEX_FIELD_NUMBER: _ClassVar[int]
    DENIAL_REASON_FIELD_NUMBER: _ClassVar[int]
    fingerprint: str
    plan_index: int
    denial_reason: str
    def __init__(self, fingerprint: _Optional[str] = ..., plan_index: _Optional[int] = ..., denial_reason: _Optional[str] = ...) -> None: ...

class ShadowDecision(_message.Message):
    __slots__ = ("strategy", "binding", "reason", "expected_cost_micro_usd")
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    strategy: str
    binding: _binding_pb2.BindingRef
    reason: str
    expected_cost_micro_usd: int
    def __init__(self, strategy: _Optional[str] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., reason: _Optional[str] = ..., expected_cost_micro_usd: _Optional[int] = ...) -> None: ...

class ShadowNotice(_message.Message):
    __slots__ = ("action_id", "installation_id", "shadow")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    installation_id: str
    shadow: ShadowDecision
    def __init__(self, action_id: _Optional[str] = ..., installation_id: _Optional[str] = ..., shadow: _Optional[_Union[ShadowDecision, _Mapping]] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("model_id", "tier", "family", "version", "context_window_token_count", "max_output_token_count", "reasoning_levels", "capabilities", "bindings", "is_routable", "layer", "evidence")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REASONING_LEVELS_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    BINDINGS_FIELD_NUMBER: _ClassVar[int]
    IS_ROUTABLE_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    tier: _binding_pb2.ModelTier
    family: str
    version: str
    context_window_token_count: int
    max_output_token_count: int
    reasoning_levels: _containers.RepeatedScalarFieldContainer[str]
    capabilities: _containers.RepeatedScalarFieldContainer[_action_pb2.Requirement]
    bindings: _containers.RepeatedCompositeFieldContainer[ModelBinding]
    is_routable: bool
    layer: _eligibility_pb2.ExclusionLayer
    evidence: _scorer_pb2.EvidenceSource
    def __init__(self, model_id: _Optional[str] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., family: _Optional[str] = ..., version: _Optional[str] = ..., context_window_token_count: _Optional[int] = ..., max_output_token_count: _Optional[int] = ..., reasoning_levels: _Optional[_Iterable[str]] = ..., capabilities: _Optional[_Iterable[_Union[_action_pb2.Requirement, str]]] = ..., bindings: _Optional[_Iterable[_Union[ModelBinding, _Mapping]]] = ..., is_routable: _Optional[bool] = ..., layer: _Optional[_Union[_eligibility_pb2.ExclusionLayer, str]] = ..., evidence: _Optional[_Union[_scorer_pb2.EvidenceSource, str]] = ...) -> None: ...

class ModelBinding(_message.Message):
    __slots__ = ("binding", "price", "fast_price", "context_window_token_count", "availability")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    FAST_PRICE_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    price: _binding_pb2.Price
    fast_price: _binding_pb2.Price
    context_window_token_count: int
    availability: _eligibility_pb2.ProviderAvailability
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., price: _Optional[_Union[_binding_pb2.Price, _Mapping]] = ..., fast_price: _Optional[_Union[_binding_pb2.Price, _Mapping]] = ..., context_window_token_count: _Optional[int] = ..., availability: _Optional[_Union[_eligibility_pb2.ProviderAvailability, str]] = ...) -> None: ...

class AttemptBegin(_message.Message):
    __slots__ = ("action_id", "attempt_number", "binding", "cause", "credential", "wait", "installation_id")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_NUMBER_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    CAUSE_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    attempt_number: int
    binding: _binding_pb2.BindingRef
    cause: _attempt_pb2.AttemptCause
    credential: _grant_pb2.CredentialAttribution
    wait: _duration_pb2.Duration
    installation_id: str
    def __init__(self, action_id: _Optional[str] = ..., attempt_number: _Optional[int] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., cause: _Optional[_Union[_attempt_pb2.AttemptCause, str]] = ..., credential: _Optional[_Union[_grant_pb2.CredentialAttribution, _Mapping]] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., installation_id: _Optional[str] = ...) -> None: ...

class AttemptNotice(_message.Message):
    __slots__ = ("action_id", "attempt", "installation_id", "next_step", "wait", "retry_delay", "vendor_type", "dropped_feature")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    NEXT_STEP_FIELD_NUMBER: _ClassVar[int]
    WAIT_FIELD_NUMBER: _ClassVar[int]
    RETRY_DELAY_FIELD_NUMBER: _ClassVar[int]
    VENDOR_TYPE_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FEATURE_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    attempt: _attempt_pb2.AttemptRecord
    installation_id: str
    next_step: _dispatch_pb2.WalkStep
    wait: _duration_pb2.Duration
    retry_delay: _duration_pb2.Duration
    vendor_type: str
    dropped_feature: str
    def __init__(self, action_id: _Optional[str] = ..., attempt: _Optional[_Union[_attempt_pb2.AttemptRecord, _Mapping]] = ..., installation_id: _Optional[str] = ..., next_step: _Optional[_Union[_dispatch_pb2.WalkStep, str]] = ..., wait: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., retry_delay: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., vendor_type: _Optional[str] = ..., dropped_feature: _Optional[str] = ...) -> None: ...

class ActionResult(_message.Message):
    __slots__ = ("action_id", "served", "http_status", "attempt", "charged_micro_usd", "saved_micro_usd", "is_cache_hit", "attempt_count", "installation_id", "failure_class")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    CHARGED_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SAVED_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    IS_CACHE_HIT_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_COUNT_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CLASS_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    served: _binding_pb2.BindingRef
    http_status: int
    attempt: _attempt_pb2.AttemptRecord
    charged_micro_usd: int
    saved_micro_usd: int
    is_cache_hit: bool
    attempt_count: int
    installation_id: str
    failure_class: _attempt_pb2.FailureClass
    def __init__(self, action_id: _Optional[str] = ..., served: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., http_status: _Optional[int] = ..., attempt: _Optional[_Union[_attempt_pb2.AttemptRecord, _Mapping]] = ..., charged_micro_usd: _Optional[int] = ..., saved_micro_usd: _Optional[int] = ..., is_cache_hit: _Optional[bool] = ..., attempt_count: _Optional[int] = ..., installation_id: _Optional[str] = ..., failure_class: _Optional[_Union[_attempt_pb2.FailureClass, str]] = ...) -> None: ...
