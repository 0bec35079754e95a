from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import conversation_pb2 as _conversation_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RouteRequest(_message.Message):
    __slots__ = ("schema_version", "route_id", "action", "features", "excerpt", "arms", "turn", "preferred_model_ids", "quality_bias_ratio", "is_training_allowed", "wants_trace", "is_shadow")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    ARMS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    QUALITY_BIAS_RATIO_FIELD_NUMBER: _ClassVar[int]
    IS_TRAINING_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    WANTS_TRACE_FIELD_NUMBER: _ClassVar[int]
    IS_SHADOW_FIELD_NUMBER: _ClassVar[int]
    schema_version: int
    route_id: str
    action: _action_pb2.ActionContext
    features: _action_pb2.RequestFeatures
    excerpt: _conversation_pb2.ConversationExcerpt
    arms: _containers.RepeatedCompositeFieldContainer[PolicyArm]
    turn: PolicyTurn
    preferred_model_ids: _containers.RepeatedScalarFieldContainer[str]
    quality_bias_ratio: float
    is_training_allowed: bool
    wants_trace: bool
    is_shadow: bool
    def __init__(self, schema_version: _Optional[int] = ..., route_id: _Optional[str] = ..., action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., excerpt: _Optional[_Union[_conversation_pb2.ConversationExcerpt, _Mapping]] = ..., arms: _Optional[_Iterable[_Union[PolicyArm, _Mapping]]] = ..., turn: _Optional[_Union[PolicyTurn, _Mapping]] = ..., preferred_model_ids: _Optional[_Iterable[str]] = ..., quality_bias_ratio: _Optional[float] = ..., is_training_allowed: _Optional[bool] = ..., wants_trace: _Optional[bool] = ..., is_shadow: _Optional[bool] = ...) -> None: ...

class RouteResponse(_message.Message):
    __slots__ = ("arm_id", "roster_id", "provider", "policy_group", "policy_route_key", "propensity_ratio", "confidence_ratio", "scores", "ranked_groups", "effort", "display_marker", "reason", "roster_version", "artifact_id", "artifact_digest", "is_arm_selector_unavailable", "trace")
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    ROSTER_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    POLICY_GROUP_FIELD_NUMBER: _ClassVar[int]
    POLICY_ROUTE_KEY_FIELD_NUMBER: _ClassVar[int]
    PROPENSITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_RATIO_FIELD_NUMBER: _ClassVar[int]
    SCORES_FIELD_NUMBER: _ClassVar[int]
    RANKED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_MARKER_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ROSTER_VERSION_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    IS_ARM_SELECTOR_UNAVAILABLE_FIELD_NUMBER: _ClassVar[int]
    TRACE_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    roster_id: str
    provider: str
    policy_group: str
    policy_route_key: str
    propensity_ratio: float
    confidence_ratio: float
    scores: _containers.RepeatedCompositeFieldContainer[ArmScore]
    ranked_groups: _containers.RepeatedCompositeFieldContainer[RankedArmGroup]
    effort: str
    display_marker: str
    reason: str
    roster_version: str
    artifact_id: str
    artifact_digest: str
    is_arm_selector_unavailable: bool
    trace: PolicyTrace
    def __init__(self, arm_id: _Optional[str] = ..., roster_id: _Optional[str] = ..., provider: _Optional[str] = ..., policy_group: _Optional[str] = ..., policy_route_key: _Optional[str] = ..., propensity_ratio: _Optional[float] = ..., confidence_ratio: _Optional[float] = ..., scores: _Optional[_Iterable[_Union[ArmScore, _Mapping]]] = ..., ranked_groups: _Optional[_Iterable[_Union[RankedArmGroup, _Mapping]]] = ..., effort: _Optional[str] = ..., display_marker: _Optional[str] = ..., reason: _Optional[str] = ..., roster_version: _Optional[str] = ..., artifact_id: _Optional[str] = ..., artifact_digest: _Optional[str] = ..., is_arm_selector_unavailable: _Optional[bool] = ..., trace: _Optional[_Union[PolicyTrace, _Mapping]] = ...) -> None: ...

class PreviewRequest(_message.Message):
    __slots__ = ("selection",)
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    selection: RouteRequest
    def __init__(self, selection: _Optional[_Union[RouteRequest, _Mapping]] = ...) -> None: ...

class PreviewResponse(_message.Message):
    __slots__ = ("selection",)
    SELECTION_FIELD_NUMBER: _ClassVar[int]
    selection: RouteResponse
    def __init__(self, selection: _Optional[_Union[RouteResponse, _Mapping]] = ...) -> None: ...

class ReportOutcomeRequest(_message.Message):
    __slots__ = ("route_id", "selected", "served", "is_selection_served", "http_status", "cost_micro_usd", "output_token_count", "is_degraded", "is_shadow")
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    SELECTED_FIELD_NUMBER: _ClassVar[int]
    SERVED_FIELD_NUMBER: _ClassVar[int]
    IS_SELECTION_SERVED_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_DEGRADED_FIELD_NUMBER: _ClassVar[int]
    IS_SHADOW_FIELD_NUMBER: _ClassVar[int]
    route_id: str
    selected: _binding_pb2.BindingRef
    served: _binding_pb2.BindingRef
    is_selection_served: bool
    http_status: int
    cost_micro_usd: int
    output_token_count: int
    is_degraded: bool
    is_shadow: bool
    def __init__(self, route_id: _Optional[str] = ..., selected: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., served: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., is_selection_served: _Optional[bool] = ..., http_status: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ..., output_token_count: _Optional[int] = ..., is_degraded: _Optional[bool] = ..., is_shadow: _Optional[bool] = ...) -> None: ...

class ReportOutcomeResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetCapabilitiesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetCapabilitiesResponse(_message.Message):
    __slots__ = ("schema_version", "is_outcome_reported", "is_preference_honoured", "is_quality_bias_honoured", "is_debug_supported", "is_preview_supported", "is_shadow_supported", "is_ranking_reported", "is_authoritative_per_turn", "artifact_id", "artifact_digest")
    SCHEMA_VERSION_FIELD_NUMBER: _ClassVar[int]
    IS_OUTCOME_REPORTED_FIELD_NUMBER: _ClassVar[int]
    IS_PREFERENCE_HONOURED_FIELD_NUMBER: _ClassVar[int]
    IS_QUALITY_BIAS_HONOURED_FIELD_NUMBER: _ClassVar[int]
    IS_DEBUG_SUPPORTED_FIELD_NUMBER: _ClassVar[int]
    IS_PREVIEW_SUPPORTED_FIELD_NUMBER: _ClassVar[int]
    IS_SHADOW_SUPPORTED_FIELD_NUMBER: _ClassVar[int]
    IS_RANKING_REPORTED_FIELD_NUMBER: _ClassVar[int]
    IS_AUTHORITATIVE_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    schema_version: int
    is_outcome_reported: bool
    is_preference_honoured: bool
    is_quality_bias_honoured: bool
    is_debug_supported: bool
    is_preview_supported: bool
    is_shadow_supported: bool
    is_ranking_reported: bool
    is_authoritative_per_turn: bool
    artifact_id: str
    artifact_digest: str
    def __init__(self, schema_version: _Optional[int] = ..., is_outcome_reported: _Optional[bool] = ..., is_preference_honoured: _Optional[bool] = ..., is_quality_bias_honoured: _Optional[bool] = ..., is_debug_supported: _Optional[bool] = ..., is_preview_supported: _Optional[bool] = ..., is_shadow_supported: _Optional[bool] = ..., is_ranking_reported: _Optional[bool] = ..., is_authoritative_per_turn: _Optional[bool] = ..., artifact_id: _Optional[str] = ..., artifact_digest: _Optional[str] = ...) -> None: ...

class GetRosterRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetRosterResponse(_message.Message):
    __slots__ = ("roster_version", "clusters")
    ROSTER_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLUSTERS_FIELD_NUMBER: _ClassVar[int]
    roster_version: str
    clusters: _containers.RepeatedCompositeFieldContainer[RosterCluster]
    def __init__(self, roster_version: _Optional[str] = ..., clusters: _Optional[_Iterable[_Union[RosterCluster, _Mapping]]] = ...) -> None: ...

class RosterCluster(_message.Message):
    __slots__ = ("cluster_label", "roster_ids")
    CLUSTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    ROSTER_IDS_FIELD_NUMBER: _ClassVar[int]
    cluster_label: str
    roster_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cluster_label: _Optional[str] = ..., roster_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class PolicyArm(_message.Message):
    __slots__ = ("arm_id", "roster_id", "binding", "preference_rank", "price", "expected_cost_micro_usd", "cost_factor", "effective_input_micro_usd_per_mtok", "effective_output_micro_usd_per_mtok", "effective_cache_read_micro_usd_per_mtok", "context_window_token_count", "tier", "is_tool_capable", "is_image_capable")
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    ROSTER_ID_FIELD_NUMBER: _ClassVar[int]
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PREFERENCE_RANK_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    COST_FACTOR_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_INPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_OUTPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    EFFECTIVE_CACHE_READ_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_WINDOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    IS_TOOL_CAPABLE_FIELD_NUMBER: _ClassVar[int]
    IS_IMAGE_CAPABLE_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    roster_id: str
    binding: _binding_pb2.BindingRef
    preference_rank: int
    price: _binding_pb2.Price
    expected_cost_micro_usd: int
    cost_factor: float
    effective_input_micro_usd_per_mtok: int
    effective_output_micro_usd_per_mtok: int
    effective_cache_read_micro_usd_per_mtok: int
    context_window_token_count: int
    tier: _binding_pb2.ModelTier
    is_tool_capable: bool
    is_image_capable: bool
    def __init__(self, arm_id: _Optional[str] = ..., roster_id: _Optional[str] = ..., binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., preference_rank: _Optional[int] = ..., price: _Optional[_Union[_binding_pb2.Price, _Mapping]] = ..., expected_cost_micro_usd: _Optional[int] = ..., cost_factor: _Optional[float] = ..., effective_input_micro_usd_per_mtok: _Optional[int] = ..., effective_output_micro_usd_per_mtok: _Optional[int] = ..., effective_cache_read_micro_usd_per_mtok: _Optional[int] = ..., context_window_token_count: _Optional[int] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., is_tool_capable: _Optional[bool] = ..., is_image_capable: _Optional[bool] = ...) -> None: ...

class PolicyTurn(_message.Message):
    __slots__ = ("action_index", "visible_turn_index", "previous", "previous_output_token_count", "previous_group", "is_previous_cache_warm", "has_ever_switched", "is_history_truncated")
    ACTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_TURN_INDEX_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_GROUP_FIELD_NUMBER: _ClassVar[int]
    IS_PREVIOUS_CACHE_WARM_FIELD_NUMBER: _ClassVar[int]
    HAS_EVER_SWITCHED_FIELD_NUMBER: _ClassVar[int]
    IS_HISTORY_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    action_index: int
    visible_turn_index: int
    previous: _binding_pb2.BindingRef
    previous_output_token_count: int
    previous_group: str
    is_previous_cache_warm: bool
    has_ever_switched: bool
    is_history_truncated: bool
    def __init__(self, action_index: _Optional[int] = ..., visible_turn_index: _Optional[int] = ..., previous: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., previous_output_token_count: _Optional[int] = ..., previous_group: _Optional[str] = ..., is_previous_cache_warm: _Optional[bool] = ..., has_ever_switched: _Optional[bool] = ..., is_history_truncated: _Optional[bool] = ...) -> None: ...

class ArmScore(_message.Message):
    __slots__ = ("arm_id", "score", "risk_ratio")
    ARM_ID_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    arm_id: str
    score: float
    risk_ratio: float
    def __init__(self, arm_id: _Optional[str] = ..., score: _Optional[float] = ..., risk_ratio: _Optional[float] = ...) -> None: ...

class RankedArmGroup(_message.Message):
    __slots__ = ("cluster_label", "arm_ids", "probability_ratio")
    CLUSTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    ARM_IDS_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    cluster_label: str
    arm_ids: _containers.RepeatedScalarFieldContainer[str]
    probability_ratio: float
    def __init__(self, cluster_label: _Optional[str] = ..., arm_ids: _Optional[_Iterable[str]] = ..., probability_ratio: _Optional[float] = ...) -> None: ...

class PolicyTrace(_message.Message):
    __slots__ = ("classes", "state", "state_ratios")
    CLASSES_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    STATE_RATIOS_FIELD_NUMBER: _ClassVar[int]
    classes: _containers.RepeatedCompositeFieldContainer[ClassProbability]
    state: int
    state_ratios: _containers.RepeatedScalarFieldContainer[float]
    def __init__(self, classes: _Optional[_Iterable[_Union[ClassProbability, _Mapping]]] = ..., state: _Optional[int] = ..., state_ratios: _Optional[_Iterable[float]] = ...) -> None: ...

class ClassProbability(_message.Message):
    __slots__ = ("class_label", "probability_ratio")
    CLASS_LABEL_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    class_label: str
    probability_ratio: float
    def __init__(self, class_label: _Optional[str] = ..., probability_ratio: _Optional[float] = ...) -> None: ...
