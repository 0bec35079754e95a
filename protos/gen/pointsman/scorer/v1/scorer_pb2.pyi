import datetime

from google.protobuf import duration_pb2 as _duration_pb2
from pointsman.common.v1 import action_pb2 as _action_pb2
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

class ScoreMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    SCORE_MODE_UNSPECIFIED: _ClassVar[ScoreMode]
    SCORE_MODE_ACTING: _ClassVar[ScoreMode]
    SCORE_MODE_SHADOW: _ClassVar[ScoreMode]

class EvidenceSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVIDENCE_SOURCE_UNSPECIFIED: _ClassVar[EvidenceSource]
    EVIDENCE_SOURCE_MEASURED: _ClassVar[EvidenceSource]
    EVIDENCE_SOURCE_ESTIMATED: _ClassVar[EvidenceSource]
    EVIDENCE_SOURCE_BORROWED: _ClassVar[EvidenceSource]
    EVIDENCE_SOURCE_TENANT: _ClassVar[EvidenceSource]
    EVIDENCE_SOURCE_POLICY: _ClassVar[EvidenceSource]

class CandidateFilter(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CANDIDATE_FILTER_UNSPECIFIED: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_PROVIDER: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_EXCLUDED: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_REQUIREMENT: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_AUTOMATIC: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_TOOL_USE: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_AGENTIC: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_IMAGE_INPUT: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_MAX_OUTPUT: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_UNMEASURED: _ClassVar[CandidateFilter]
    CANDIDATE_FILTER_POLICY: _ClassVar[CandidateFilter]

class PolicyDropReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    POLICY_DROP_REASON_UNSPECIFIED: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_REQUESTED_EXCLUSION: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_NOT_ALLOWLISTED: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_UNKNOWN_CATALOG_MODEL: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_UNMAPPED_ROSTER: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_NO_ENABLED_PROVIDER: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_PROVIDER_POLICY: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_IMAGE_CAPABILITY: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_TOOL_CAPABILITY: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_AMBIGUOUS_ROSTER_ID: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_CONTEXT_WINDOW: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_GATEWAY_NOT_SERVED: _ClassVar[PolicyDropReason]
    POLICY_DROP_REASON_AUTOMATIC_DISABLED: _ClassVar[PolicyDropReason]

class CandidateOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CANDIDATE_ORDER_UNSPECIFIED: _ClassVar[CandidateOrder]
    CANDIDATE_ORDER_MODEL: _ClassVar[CandidateOrder]
    CANDIDATE_ORDER_SPEED: _ClassVar[CandidateOrder]
SCORE_MODE_UNSPECIFIED: ScoreMode
SCORE_MODE_ACTING: ScoreMode
SCORE_MODE_SHADOW: ScoreMode
EVIDENCE_SOURCE_UNSPECIFIED: EvidenceSource
EVIDENCE_SOURCE_MEASURED: EvidenceSource
EVIDENCE_SOURCE_ESTIMATED: EvidenceSource
EVIDENCE_SOURCE_BORROWED: EvidenceSource
EVIDENCE_SOURCE_TENANT: EvidenceSource
EVIDENCE_SOURCE_POLICY: EvidenceSource
CANDIDATE_FILTER_UNSPECIFIED: CandidateFilter
CANDIDATE_FILTER_PROVIDER: CandidateFilter
CANDIDATE_FILTER_EXCLUDED: CandidateFilter
CANDIDATE_FILTER_REQUIREMENT: CandidateFilter
CANDIDATE_FILTER_AUTOMATIC: CandidateFilter
CANDIDATE_FILTER_TOOL_USE: CandidateFilter
CANDIDATE_FILTER_AGENTIC: CandidateFilter
CANDIDATE_FILTER_IMAGE_INPUT: CandidateFilter
CANDIDATE_FILTER_MAX_OUTPUT: CandidateFilter
CANDIDATE_FILTER_UNMEASURED: CandidateFilter
CANDIDATE_FILTER_POLICY: CandidateFilter
POLICY_DROP_REASON_UNSPECIFIED: PolicyDropReason
POLICY_DROP_REASON_REQUESTED_EXCLUSION: PolicyDropReason
POLICY_DROP_REASON_NOT_ALLOWLISTED: PolicyDropReason
POLICY_DROP_REASON_UNKNOWN_CATALOG_MODEL: PolicyDropReason
POLICY_DROP_REASON_UNMAPPED_ROSTER: PolicyDropReason
POLICY_DROP_REASON_NO_ENABLED_PROVIDER: PolicyDropReason
POLICY_DROP_REASON_PROVIDER_POLICY: PolicyDropReason
POLICY_DROP_REASON_IMAGE_CAPABILITY: PolicyDropReason
POLICY_DROP_REASON_TOOL_CAPABILITY: PolicyDropReason
POLICY_DROP_REASON_AMBIGUOUS_ROSTER_ID: PolicyDropReason
POLICY_DROP_REASON_CONTEXT_WINDOW: PolicyDropReason
POLICY_DROP_REASON_GATEWAY_NOT_SERVED: PolicyDropReason
POLICY_DROP_REASON_AUTOMATIC_DISABLED: PolicyDropReason
CANDIDATE_ORDER_UNSPECIFIED: CandidateOrder
CANDIDATE_ORDER_MODEL: CandidateOrder
CANDIDATE_ORDER_SPEED: CandidateOrder

class ScoreRequest(_message.Message):
    __slots__ = ("action", "features", "eligibility", "prompt", "excerpt", "strategy", "mode", "knobs", "cost_factors", "turn", "artifact_version", "is_training_allowed", "wants_embedding", "wants_explanation", "is_brief")
    class CostFactorsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    ACTION_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    PROMPT_FIELD_NUMBER: _ClassVar[int]
    EXCERPT_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_FIELD_NUMBER: _ClassVar[int]
    MODE_FIELD_NUMBER: _ClassVar[int]
    KNOBS_FIELD_NUMBER: _ClassVar[int]
    COST_FACTORS_FIELD_NUMBER: _ClassVar[int]
    TURN_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    IS_TRAINING_ALLOWED_FIELD_NUMBER: _ClassVar[int]
    WANTS_EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    WANTS_EXPLANATION_FIELD_NUMBER: _ClassVar[int]
    IS_BRIEF_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    features: _action_pb2.RequestFeatures
    eligibility: _eligibility_pb2.EligibilityRecord
    prompt: PromptText
    excerpt: _conversation_pb2.ConversationExcerpt
    strategy: str
    mode: ScoreMode
    knobs: RoutingKnobs
    cost_factors: _containers.ScalarMap[str, float]
    turn: TurnContext
    artifact_version: str
    is_training_allowed: bool
    wants_embedding: bool
    wants_explanation: bool
    is_brief: bool
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., prompt: _Optional[_Union[PromptText, _Mapping]] = ..., excerpt: _Optional[_Union[_conversation_pb2.ConversationExcerpt, _Mapping]] = ..., strategy: _Optional[str] = ..., mode: _Optional[_Union[ScoreMode, str]] = ..., knobs: _Optional[_Union[RoutingKnobs, _Mapping]] = ..., cost_factors: _Optional[_Mapping[str, float]] = ..., turn: _Optional[_Union[TurnContext, _Mapping]] = ..., artifact_version: _Optional[str] = ..., is_training_allowed: _Optional[bool] = ..., wants_embedding: _Optional[bool] = ..., wants_explanation: _Optional[bool] = ..., is_brief: _Optional[bool] = ...) -> None: ...

class ScoreResponse(_message.Message):
    __slots__ = ("pick", "runner_up", "candidates", "dropped", "filters", "reason", "propensity_ratio", "cluster_ids", "embedding", "cache_similarity_ratios", "knobs", "policy", "evidence", "timing", "versions")
    PICK_FIELD_NUMBER: _ClassVar[int]
    RUNNER_UP_FIELD_NUMBER: _ClassVar[int]
    CANDIDATES_FIELD_NUMBER: _ClassVar[int]
    DROPPED_FIELD_NUMBER: _ClassVar[int]
    FILTERS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    PROPENSITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_IDS_FIELD_NUMBER: _ClassVar[int]
    EMBEDDING_FIELD_NUMBER: _ClassVar[int]
    CACHE_SIMILARITY_RATIOS_FIELD_NUMBER: _ClassVar[int]
    KNOBS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    TIMING_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    pick: Candidate
    runner_up: Candidate
    candidates: _containers.RepeatedCompositeFieldContainer[Candidate]
    dropped: _containers.RepeatedCompositeFieldContainer[DroppedCandidate]
    filters: _containers.RepeatedCompositeFieldContainer[FilterReport]
    reason: str
    propensity_ratio: float
    cluster_ids: _containers.RepeatedScalarFieldContainer[int]
    embedding: _containers.RepeatedScalarFieldContainer[float]
    cache_similarity_ratios: _containers.RepeatedScalarFieldContainer[float]
    knobs: EffectiveKnobs
    policy: PolicyDecision
    evidence: ScoreEvidence
    timing: ScoreTiming
    versions: _binding_pb2.Versions
    def __init__(self, pick: _Optional[_Union[Candidate, _Mapping]] = ..., runner_up: _Optional[_Union[Candidate, _Mapping]] = ..., candidates: _Optional[_Iterable[_Union[Candidate, _Mapping]]] = ..., dropped: _Optional[_Iterable[_Union[DroppedCandidate, _Mapping]]] = ..., filters: _Optional[_Iterable[_Union[FilterReport, _Mapping]]] = ..., reason: _Optional[str] = ..., propensity_ratio: _Optional[float] = ..., cluster_ids: _Optional[_Iterable[int]] = ..., embedding: _Optional[_Iterable[float]] = ..., cache_similarity_ratios: _Optional[_Iterable[float]] = ..., knobs: _Optional[_Union[EffectiveKnobs, _Mapping]] = ..., policy: _Optional[_Union[PolicyDecision, _Mapping]] = ..., evidence: _Optional[_Union[ScoreEvidence, _Mapping]] = ..., timing: _Optional[_Union[ScoreTiming, _Mapping]] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class ListCandidatesRequest(_message.Message):
    __slots__ = ("page_size", "page_token", "artifact_version", "eligibility", "features", "is_eligible_only", "order_by")
    PAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    IS_ELIGIBLE_ONLY_FIELD_NUMBER: _ClassVar[int]
    ORDER_BY_FIELD_NUMBER: _ClassVar[int]
    page_size: int
    page_token: str
    artifact_version: str
    eligibility: _eligibility_pb2.EligibilityRecord
    features: _action_pb2.RequestFeatures
    is_eligible_only: bool
    order_by: CandidateOrder
    def __init__(self, page_size: _Optional[int] = ..., page_token: _Optional[str] = ..., artifact_version: _Optional[str] = ..., eligibility: _Optional[_Union[_eligibility_pb2.EligibilityRecord, _Mapping]] = ..., features: _Optional[_Union[_action_pb2.RequestFeatures, _Mapping]] = ..., is_eligible_only: _Optional[bool] = ..., order_by: _Optional[_Union[CandidateOrder, str]] = ...) -> None: ...

class ListCandidatesResponse(_message.Message):
    __slots__ = ("models", "next_page_token", "versions")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    NEXT_PAGE_TOKEN_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[DeployedModel]
    next_page_token: str
    versions: _binding_pb2.Versions
    def __init__(self, models: _Optional[_Iterable[_Union[DeployedModel, _Mapping]]] = ..., next_page_token: _Optional[str] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class PromptText(_message.Message):
    __slots__ = ("text", "first_text", "text_bytes")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FIRST_TEXT_FIELD_NUMBER: _ClassVar[int]
    TEXT_BYTES_FIELD_NUMBER: _ClassVar[int]
    text: str
    first_text: str
    text_bytes: int
    def __init__(self, text: _Optional[str] = ..., first_text: _Optional[str] = ..., text_bytes: _Optional[int] = ...) -> None: ...

class RoutingKnobs(_message.Message):
    __slots__ = ("alpha_ratio", "quality_bias_ratio", "speed_weight_ratio", "output_cost_multiplier", "expected_output_token_count", "is_verbosity_per_model", "effort", "risk_price_micro_usd")
    ALPHA_RATIO_FIELD_NUMBER: _ClassVar[int]
    QUALITY_BIAS_RATIO_FIELD_NUMBER: _ClassVar[int]
    SPEED_WEIGHT_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COST_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_VERBOSITY_PER_MODEL_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    RISK_PRICE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    alpha_ratio: float
    quality_bias_ratio: float
    speed_weight_ratio: float
    output_cost_multiplier: float
    expected_output_token_count: int
    is_verbosity_per_model: bool
    effort: str
    risk_price_micro_usd: int
    def __init__(self, alpha_ratio: _Optional[float] = ..., quality_bias_ratio: _Optional[float] = ..., speed_weight_ratio: _Optional[float] = ..., output_cost_multiplier: _Optional[float] = ..., expected_output_token_count: _Optional[int] = ..., is_verbosity_per_model: _Optional[bool] = ..., effort: _Optional[str] = ..., risk_price_micro_usd: _Optional[int] = ...) -> None: ...

class TurnContext(_message.Message):
    __slots__ = ("action_index", "visible_turn_index", "previous", "previous_output_token_count", "is_previous_cache_warm", "has_ever_switched", "is_history_truncated", "policy_group", "cached_prefix_token_count")
    ACTION_INDEX_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_TURN_INDEX_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_FIELD_NUMBER: _ClassVar[int]
    PREVIOUS_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_PREVIOUS_CACHE_WARM_FIELD_NUMBER: _ClassVar[int]
    HAS_EVER_SWITCHED_FIELD_NUMBER: _ClassVar[int]
    IS_HISTORY_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    POLICY_GROUP_FIELD_NUMBER: _ClassVar[int]
    CACHED_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    action_index: int
    visible_turn_index: int
    previous: _binding_pb2.BindingRef
    previous_output_token_count: int
    is_previous_cache_warm: bool
    has_ever_switched: bool
    is_history_truncated: bool
    policy_group: str
    cached_prefix_token_count: int
    def __init__(self, action_index: _Optional[int] = ..., visible_turn_index: _Optional[int] = ..., previous: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., previous_output_token_count: _Optional[int] = ..., is_previous_cache_warm: _Optional[bool] = ..., has_ever_switched: _Optional[bool] = ..., is_history_truncated: _Optional[bool] = ..., policy_group: _Optional[str] = ..., cached_prefix_token_count: _Optional[int] = ...) -> None: ...

class Candidate(_message.Message):
    __slots__ = ("binding", "score", "risk_ratio", "evidence", "scored_as", "tier", "effort", "expected_cost_micro_usd", "terms", "policy_group")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    SCORED_AS_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    TERMS_FIELD_NUMBER: _ClassVar[int]
    POLICY_GROUP_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    score: float
    risk_ratio: float
    evidence: EvidenceSource
    scored_as: str
    tier: _binding_pb2.ModelTier
    effort: str
    expected_cost_micro_usd: int
    terms: ScoreTerms
    policy_group: str
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., score: _Optional[float] = ..., risk_ratio: _Optional[float] = ..., evidence: _Optional[_Union[EvidenceSource, str]] = ..., scored_as: _Optional[str] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., effort: _Optional[str] = ..., expected_cost_micro_usd: _Optional[int] = ..., terms: _Optional[_Union[ScoreTerms, _Mapping]] = ..., policy_group: _Optional[str] = ...) -> None: ...

class ScoreTerms(_message.Message):
    __slots__ = ("quality_ratio", "cost_ratio", "latency_ratio", "subscription_bonus", "preference_bonus")
    QUALITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    COST_RATIO_FIELD_NUMBER: _ClassVar[int]
    LATENCY_RATIO_FIELD_NUMBER: _ClassVar[int]
    SUBSCRIPTION_BONUS_FIELD_NUMBER: _ClassVar[int]
    PREFERENCE_BONUS_FIELD_NUMBER: _ClassVar[int]
    quality_ratio: float
    cost_ratio: float
    latency_ratio: float
    subscription_bonus: float
    preference_bonus: float
    def __init__(self, quality_ratio: _Optional[float] = ..., cost_ratio: _Optional[float] = ..., latency_ratio: _Optional[float] = ..., subscription_bonus: _Optional[float] = ..., preference_bonus: _Optional[float] = ...) -> None: ...

class DroppedCandidate(_message.Message):
    __slots__ = ("model_id", "filter", "layer", "policy_reason")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    POLICY_REASON_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    filter: CandidateFilter
    layer: _eligibility_pb2.ExclusionLayer
    policy_reason: PolicyDropReason
    def __init__(self, model_id: _Optional[str] = ..., filter: _Optional[_Union[CandidateFilter, str]] = ..., layer: _Optional[_Union[_eligibility_pb2.ExclusionLayer, str]] = ..., policy_reason: _Optional[_Union[PolicyDropReason, str]] = ...) -> None: ...

class FilterReport(_message.Message):
    __slots__ = ("filter", "before_count", "after_count", "is_skipped")
    FILTER_FIELD_NUMBER: _ClassVar[int]
    BEFORE_COUNT_FIELD_NUMBER: _ClassVar[int]
    AFTER_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_SKIPPED_FIELD_NUMBER: _ClassVar[int]
    filter: CandidateFilter
    before_count: int
    after_count: int
    is_skipped: bool
    def __init__(self, filter: _Optional[_Union[CandidateFilter, str]] = ..., before_count: _Optional[int] = ..., after_count: _Optional[int] = ..., is_skipped: _Optional[bool] = ...) -> None: ...

class EffectiveKnobs(_message.Message):
    __slots__ = ("alpha_ratios", "speed_weight_ratio", "output_cost_multiplier", "expected_output_token_count", "is_verbosity_per_model", "risk_price_micro_usd", "knobs_hash")
    ALPHA_RATIOS_FIELD_NUMBER: _ClassVar[int]
    SPEED_WEIGHT_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_COST_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_VERBOSITY_PER_MODEL_FIELD_NUMBER: _ClassVar[int]
    RISK_PRICE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    KNOBS_HASH_FIELD_NUMBER: _ClassVar[int]
    alpha_ratios: _containers.RepeatedScalarFieldContainer[float]
    speed_weight_ratio: float
    output_cost_multiplier: float
    expected_output_token_count: int
    is_verbosity_per_model: bool
    risk_price_micro_usd: int
    knobs_hash: str
    def __init__(self, alpha_ratios: _Optional[_Iterable[float]] = ..., speed_weight_ratio: _Optional[float] = ..., output_cost_multiplier: _Optional[float] = ..., expected_output_token_count: _Optional[int] = ..., is_verbosity_per_model: _Optional[bool] = ..., risk_price_micro_usd: _Optional[int] = ..., knobs_hash: _Optional[str] = ...) -> None: ...

class PolicyDecision(_message.Message):
    __slots__ = ("policy", "route_id", "policy_group", "policy_route_key", "roster_version", "policy_artifact_id", "policy_artifact_digest", "ranked_groups", "is_authoritative_per_turn", "confidence_ratio", "is_cluster_overridden", "is_cluster_forced", "display_marker")
    POLICY_FIELD_NUMBER: _ClassVar[int]
    ROUTE_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_GROUP_FIELD_NUMBER: _ClassVar[int]
    POLICY_ROUTE_KEY_FIELD_NUMBER: _ClassVar[int]
    ROSTER_VERSION_FIELD_NUMBER: _ClassVar[int]
    POLICY_ARTIFACT_ID_FIELD_NUMBER: _ClassVar[int]
    POLICY_ARTIFACT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    RANKED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    IS_AUTHORITATIVE_PER_TURN_FIELD_NUMBER: _ClassVar[int]
    CONFIDENCE_RATIO_FIELD_NUMBER: _ClassVar[int]
    IS_CLUSTER_OVERRIDDEN_FIELD_NUMBER: _ClassVar[int]
    IS_CLUSTER_FORCED_FIELD_NUMBER: _ClassVar[int]
    DISPLAY_MARKER_FIELD_NUMBER: _ClassVar[int]
    policy: str
    route_id: str
    policy_group: str
    policy_route_key: str
    roster_version: str
    policy_artifact_id: str
    policy_artifact_digest: str
    ranked_groups: _containers.RepeatedCompositeFieldContainer[RankedGroup]
    is_authoritative_per_turn: bool
    confidence_ratio: float
    is_cluster_overridden: bool
    is_cluster_forced: bool
    display_marker: str
    def __init__(self, policy: _Optional[str] = ..., route_id: _Optional[str] = ..., policy_group: _Optional[str] = ..., policy_route_key: _Optional[str] = ..., roster_version: _Optional[str] = ..., policy_artifact_id: _Optional[str] = ..., policy_artifact_digest: _Optional[str] = ..., ranked_groups: _Optional[_Iterable[_Union[RankedGroup, _Mapping]]] = ..., is_authoritative_per_turn: _Optional[bool] = ..., confidence_ratio: _Optional[float] = ..., is_cluster_overridden: _Optional[bool] = ..., is_cluster_forced: _Optional[bool] = ..., display_marker: _Optional[str] = ...) -> None: ...

class RankedGroup(_message.Message):
    __slots__ = ("cluster_label", "model_ids", "probability_ratio")
    CLUSTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    PROBABILITY_RATIO_FIELD_NUMBER: _ClassVar[int]
    cluster_label: str
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    probability_ratio: float
    def __init__(self, cluster_label: _Optional[str] = ..., model_ids: _Optional[_Iterable[str]] = ..., probability_ratio: _Optional[float] = ...) -> None: ...

class ScoreEvidence(_message.Message):
    __slots__ = ("embedded_bytes", "unknown_token_ratio", "nearest_similarity", "is_out_of_distribution", "is_embedding_cached")
    EMBEDDED_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_TOKEN_RATIO_FIELD_NUMBER: _ClassVar[int]
    NEAREST_SIMILARITY_FIELD_NUMBER: _ClassVar[int]
    IS_OUT_OF_DISTRIBUTION_FIELD_NUMBER: _ClassVar[int]
    IS_EMBEDDING_CACHED_FIELD_NUMBER: _ClassVar[int]
    embedded_bytes: int
    unknown_token_ratio: float
    nearest_similarity: float
    is_out_of_distribution: bool
    is_embedding_cached: bool
    def __init__(self, embedded_bytes: _Optional[int] = ..., unknown_token_ratio: _Optional[float] = ..., nearest_similarity: _Optional[float] = ..., is_out_of_distribution: _Optional[bool] = ..., is_embedding_cached: _Optional[bool] = ...) -> None: ...

class ScoreTiming(_message.Message):
    __slots__ = ("queue", "embed", "score", "policy")
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    EMBED_FIELD_NUMBER: _ClassVar[int]
    SCORE_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    queue: _duration_pb2.Duration
    embed: _duration_pb2.Duration
    score: _duration_pb2.Duration
    policy: _duration_pb2.Duration
    def __init__(self, queue: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., embed: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., score: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., policy: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ...) -> None: ...

class DeployedModel(_message.Message):
    __slots__ = ("binding", "tier", "price", "tokens_per_second", "first_token_latency", "evidence", "scored_as", "skill_ratio", "dropped_by", "layer")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    TOKENS_PER_SECOND_FIELD_NUMBER: _ClassVar[int]
    FIRST_TOKEN_LATENCY_FIELD_NUMBER: _ClassVar[int]
    EVIDENCE_FIELD_NUMBER: _ClassVar[int]
    SCORED_AS_FIELD_NUMBER: _ClassVar[int]
    SKILL_RATIO_FIELD_NUMBER: _ClassVar[int]
    DROPPED_BY_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    tier: _binding_pb2.ModelTier
    price: _binding_pb2.Price
    tokens_per_second: float
    first_token_latency: _duration_pb2.Duration
    evidence: EvidenceSource
    scored_as: str
    skill_ratio: float
    dropped_by: CandidateFilter
    layer: _eligibility_pb2.ExclusionLayer
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., price: _Optional[_Union[_binding_pb2.Price, _Mapping]] = ..., tokens_per_second: _Optional[float] = ..., first_token_latency: _Optional[_Union[datetime.timedelta, _duration_pb2.Duration, _Mapping]] = ..., evidence: _Optional[_Union[EvidenceSource, str]] = ..., scored_as: _Optional[str] = ..., skill_ratio: _Optional[float] = ..., dropped_by: _Optional[_Union[CandidateFilter, str]] = ..., layer: _Optional[_Union[_eligibility_pb2.ExclusionLayer, str]] = ...) -> None: ...
