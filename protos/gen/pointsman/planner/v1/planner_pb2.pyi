from pointsman.common.v1 import action_pb2 as _action_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_STAY: _ClassVar[Verdict]
    VERDICT_SWITCH: _ClassVar[Verdict]

class PlanReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_REASON_UNSPECIFIED: _ClassVar[PlanReason]
    PLAN_REASON_NO_PIN: _ClassVar[PlanReason]
    PLAN_REASON_SAME_MODEL: _ClassVar[PlanReason]
    PLAN_REASON_PIN_MODEL_MISSING: _ClassVar[PlanReason]
    PLAN_REASON_NO_PRIOR_USAGE: _ClassVar[PlanReason]
    PLAN_REASON_PRICING_MISSING: _ClassVar[PlanReason]
    PLAN_REASON_EV_POSITIVE: _ClassVar[PlanReason]
    PLAN_REASON_TIER_UPGRADE: _ClassVar[PlanReason]
    PLAN_REASON_COLD_PIN_FOLLOW_FRESH: _ClassVar[PlanReason]
    PLAN_REASON_EV_NEGATIVE: _ClassVar[PlanReason]
    PLAN_REASON_VALUE_POSITIVE: _ClassVar[PlanReason]
    PLAN_REASON_VALUE_NEGATIVE: _ClassVar[PlanReason]

class Economics(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ECONOMICS_UNSPECIFIED: _ClassVar[Economics]
    ECONOMICS_VALUE: _ClassVar[Economics]
    ECONOMICS_CORRECTED: _ClassVar[Economics]
    ECONOMICS_LEGACY: _ClassVar[Economics]

class CacheState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CACHE_STATE_UNSPECIFIED: _ClassVar[CacheState]
    CACHE_STATE_WARM: _ClassVar[CacheState]
    CACHE_STATE_COLD: _ClassVar[CacheState]
    CACHE_STATE_BROKEN: _ClassVar[CacheState]

class RiskBasis(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_BASIS_UNSPECIFIED: _ClassVar[RiskBasis]
    RISK_BASIS_SCORER: _ClassVar[RiskBasis]
    RISK_BASIS_TIER_STEP: _ClassVar[RiskBasis]
    RISK_BASIS_NONE: _ClassVar[RiskBasis]
VERDICT_UNSPECIFIED: Verdict
VERDICT_STAY: Verdict
VERDICT_SWITCH: Verdict
PLAN_REASON_UNSPECIFIED: PlanReason
PLAN_REASON_NO_PIN: PlanReason
PLAN_REASON_SAME_MODEL: PlanReason
PLAN_REASON_PIN_MODEL_MISSING: PlanReason
PLAN_REASON_NO_PRIOR_USAGE: PlanReason
PLAN_REASON_PRICING_MISSING: PlanReason
PLAN_REASON_EV_POSITIVE: PlanReason
PLAN_REASON_TIER_UPGRADE: PlanReason
PLAN_REASON_COLD_PIN_FOLLOW_FRESH: PlanReason
PLAN_REASON_EV_NEGATIVE: PlanReason
PLAN_REASON_VALUE_POSITIVE: PlanReason
PLAN_REASON_VALUE_NEGATIVE: PlanReason
ECONOMICS_UNSPECIFIED: Economics
ECONOMICS_VALUE: Economics
ECONOMICS_CORRECTED: Economics
ECONOMICS_LEGACY: Economics
CACHE_STATE_UNSPECIFIED: CacheState
CACHE_STATE_WARM: CacheState
CACHE_STATE_COLD: CacheState
CACHE_STATE_BROKEN: CacheState
RISK_BASIS_UNSPECIFIED: RiskBasis
RISK_BASIS_SCORER: RiskBasis
RISK_BASIS_TIER_STEP: RiskBasis
RISK_BASIS_NONE: RiskBasis

class PlanActionRequest(_message.Message):
    __slots__ = ("action", "pin", "fresh", "input_token_count", "cacheable_prefix_token_count", "output_token_count", "available_models", "prices", "cost_factors", "summary", "overrides", "catalog_version", "config_version", "eligibility_id")
    class CostFactorsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PIN_FIELD_NUMBER: _ClassVar[int]
    FRESH_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CACHEABLE_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_MODELS_FIELD_NUMBER: _ClassVar[int]
    PRICES_FIELD_NUMBER: _ClassVar[int]
    COST_FACTORS_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_ID_FIELD_NUMBER: _ClassVar[int]
    action: _action_pb2.ActionContext
    pin: Pin
    fresh: FreshDecision
    input_token_count: int
    cacheable_prefix_token_count: int
    output_token_count: int
    available_models: _binding_pb2.ModelSet
    prices: _containers.RepeatedCompositeFieldContainer[_binding_pb2.BindingPrice]
    cost_factors: _containers.ScalarMap[str, float]
    summary: SummaryOffer
    overrides: PlannerOverrides
    catalog_version: str
    config_version: str
    eligibility_id: str
    def __init__(self, action: _Optional[_Union[_action_pb2.ActionContext, _Mapping]] = ..., pin: _Optional[_Union[Pin, _Mapping]] = ..., fresh: _Optional[_Union[FreshDecision, _Mapping]] = ..., input_token_count: _Optional[int] = ..., cacheable_prefix_token_count: _Optional[int] = ..., output_token_count: _Optional[int] = ..., available_models: _Optional[_Union[_binding_pb2.ModelSet, _Mapping]] = ..., prices: _Optional[_Iterable[_Union[_binding_pb2.BindingPrice, _Mapping]]] = ..., cost_factors: _Optional[_Mapping[str, float]] = ..., summary: _Optional[_Union[SummaryOffer, _Mapping]] = ..., overrides: _Optional[_Union[PlannerOverrides, _Mapping]] = ..., catalog_version: _Optional[str] = ..., config_version: _Optional[str] = ..., eligibility_id: _Optional[str] = ...) -> None: ...

class PlanActionResponse(_message.Message):
    __slots__ = ("verdict", "reason", "is_ev_computed", "economics", "expected_value", "value_sum", "shadow", "pin_price", "fresh_price", "inputs", "versions")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    IS_EV_COMPUTED_FIELD_NUMBER: _ClassVar[int]
    ECONOMICS_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VALUE_FIELD_NUMBER: _ClassVar[int]
    VALUE_SUM_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    PIN_PRICE_FIELD_NUMBER: _ClassVar[int]
    FRESH_PRICE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    verdict: Verdict
    reason: PlanReason
    is_ev_computed: bool
    economics: Economics
    expected_value: ExpectedValue
    value_sum: ValueSum
    shadow: ShadowSum
    pin_price: UsedPrice
    fresh_price: UsedPrice
    inputs: PlanInputs
    versions: _binding_pb2.Versions
    def __init__(self, verdict: _Optional[_Union[Verdict, str]] = ..., reason: _Optional[_Union[PlanReason, str]] = ..., is_ev_computed: _Optional[bool] = ..., economics: _Optional[_Union[Economics, str]] = ..., expected_value: _Optional[_Union[ExpectedValue, _Mapping]] = ..., value_sum: _Optional[_Union[ValueSum, _Mapping]] = ..., shadow: _Optional[_Union[ShadowSum, _Mapping]] = ..., pin_price: _Optional[_Union[UsedPrice, _Mapping]] = ..., fresh_price: _Optional[_Union[UsedPrice, _Mapping]] = ..., inputs: _Optional[_Union[PlanInputs, _Mapping]] = ..., versions: _Optional[_Union[_binding_pb2.Versions, _Mapping]] = ...) -> None: ...

class Pin(_message.Message):
    __slots__ = ("binding", "has_completed_action", "cache_state", "tier", "risk_ratio", "mean_risk_ratio")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    HAS_COMPLETED_ACTION_FIELD_NUMBER: _ClassVar[int]
    CACHE_STATE_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    MEAN_RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    has_completed_action: bool
    cache_state: CacheState
    tier: _binding_pb2.ModelTier
    risk_ratio: float
    mean_risk_ratio: float
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., has_completed_action: _Optional[bool] = ..., cache_state: _Optional[_Union[CacheState, str]] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., risk_ratio: _Optional[float] = ..., mean_risk_ratio: _Optional[float] = ...) -> None: ...

class FreshDecision(_message.Message):
    __slots__ = ("binding", "tier", "risk_ratio", "mean_risk_ratio", "leftover_prefix_token_count")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    TIER_FIELD_NUMBER: _ClassVar[int]
    RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    MEAN_RISK_RATIO_FIELD_NUMBER: _ClassVar[int]
    LEFTOVER_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    tier: _binding_pb2.ModelTier
    risk_ratio: float
    mean_risk_ratio: float
    leftover_prefix_token_count: int
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., tier: _Optional[_Union[_binding_pb2.ModelTier, str]] = ..., risk_ratio: _Optional[float] = ..., mean_risk_ratio: _Optional[float] = ..., leftover_prefix_token_count: _Optional[int] = ...) -> None: ...

class SummaryOffer(_message.Message):
    __slots__ = ("input_token_count", "cost_micro_usd", "leftover_prefix_token_count")
    INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    COST_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    LEFTOVER_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    input_token_count: int
    cost_micro_usd: int
    leftover_prefix_token_count: int
    def __init__(self, input_token_count: _Optional[int] = ..., cost_micro_usd: _Optional[int] = ..., leftover_prefix_token_count: _Optional[int] = ...) -> None: ...

class PlannerOverrides(_message.Message):
    __slots__ = ("economics", "threshold_micro_usd", "remaining_action_count", "is_tier_upgrade_enabled", "is_cold_pin_follow_fresh", "risk_price_micro_usd", "persistence_ratio")
    ECONOMICS_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    REMAINING_ACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_TIER_UPGRADE_ENABLED_FIELD_NUMBER: _ClassVar[int]
    IS_COLD_PIN_FOLLOW_FRESH_FIELD_NUMBER: _ClassVar[int]
    RISK_PRICE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_RATIO_FIELD_NUMBER: _ClassVar[int]
    economics: Economics
    threshold_micro_usd: int
    remaining_action_count: int
    is_tier_upgrade_enabled: bool
    is_cold_pin_follow_fresh: bool
    risk_price_micro_usd: int
    persistence_ratio: float
    def __init__(self, economics: _Optional[_Union[Economics, str]] = ..., threshold_micro_usd: _Optional[int] = ..., remaining_action_count: _Optional[int] = ..., is_tier_upgrade_enabled: _Optional[bool] = ..., is_cold_pin_follow_fresh: _Optional[bool] = ..., risk_price_micro_usd: _Optional[int] = ..., persistence_ratio: _Optional[float] = ...) -> None: ...

class ExpectedValue(_message.Message):
    __slots__ = ("per_action_micro_usd", "savings_micro_usd", "eviction_micro_usd", "expected_value_micro_usd")
    PER_ACTION_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SAVINGS_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    EVICTION_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    EXPECTED_VALUE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    per_action_micro_usd: int
    savings_micro_usd: int
    eviction_micro_usd: int
    expected_value_micro_usd: int
    def __init__(self, per_action_micro_usd: _Optional[int] = ..., savings_micro_usd: _Optional[int] = ..., eviction_micro_usd: _Optional[int] = ..., expected_value_micro_usd: _Optional[int] = ...) -> None: ...

class ValueSum(_message.Message):
    __slots__ = ("stay_micro_usd", "switch_micro_usd", "switch_full_history_micro_usd", "switch_with_summary_micro_usd", "quality_micro_usd", "value_micro_usd", "is_summary_chosen", "risk_gap", "mean_risk_gap", "risk_basis")
    STAY_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SWITCH_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SWITCH_FULL_HISTORY_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SWITCH_WITH_SUMMARY_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    QUALITY_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    VALUE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    IS_SUMMARY_CHOSEN_FIELD_NUMBER: _ClassVar[int]
    RISK_GAP_FIELD_NUMBER: _ClassVar[int]
    MEAN_RISK_GAP_FIELD_NUMBER: _ClassVar[int]
    RISK_BASIS_FIELD_NUMBER: _ClassVar[int]
    stay_micro_usd: int
    switch_micro_usd: int
    switch_full_history_micro_usd: int
    switch_with_summary_micro_usd: int
    quality_micro_usd: int
    value_micro_usd: int
    is_summary_chosen: bool
    risk_gap: float
    mean_risk_gap: float
    risk_basis: RiskBasis
    def __init__(self, stay_micro_usd: _Optional[int] = ..., switch_micro_usd: _Optional[int] = ..., switch_full_history_micro_usd: _Optional[int] = ..., switch_with_summary_micro_usd: _Optional[int] = ..., quality_micro_usd: _Optional[int] = ..., value_micro_usd: _Optional[int] = ..., is_summary_chosen: _Optional[bool] = ..., risk_gap: _Optional[float] = ..., mean_risk_gap: _Optional[float] = ..., risk_basis: _Optional[_Union[RiskBasis, str]] = ...) -> None: ...

class ShadowSum(_message.Message):
    __slots__ = ("stay_micro_usd", "switch_micro_usd", "saving_micro_usd", "verdict")
    STAY_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SWITCH_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    SAVING_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    stay_micro_usd: int
    switch_micro_usd: int
    saving_micro_usd: int
    verdict: Verdict
    def __init__(self, stay_micro_usd: _Optional[int] = ..., switch_micro_usd: _Optional[int] = ..., saving_micro_usd: _Optional[int] = ..., verdict: _Optional[_Union[Verdict, str]] = ...) -> None: ...

class UsedPrice(_message.Message):
    __slots__ = ("binding", "price", "cost_factor", "is_fallback", "cache_read_multiplier", "cache_write_multiplier")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    COST_FACTOR_FIELD_NUMBER: _ClassVar[int]
    IS_FALLBACK_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    binding: _binding_pb2.BindingRef
    price: _binding_pb2.Price
    cost_factor: float
    is_fallback: bool
    cache_read_multiplier: float
    cache_write_multiplier: float
    def __init__(self, binding: _Optional[_Union[_binding_pb2.BindingRef, _Mapping]] = ..., price: _Optional[_Union[_binding_pb2.Price, _Mapping]] = ..., cost_factor: _Optional[float] = ..., is_fallback: _Optional[bool] = ..., cache_read_multiplier: _Optional[float] = ..., cache_write_multiplier: _Optional[float] = ...) -> None: ...

class PlanInputs(_message.Message):
    __slots__ = ("input_token_count", "cacheable_prefix_token_count", "is_prefix_known", "cached_share_ratio", "output_token_count", "leftover_prefix_token_count", "remaining_action_count", "threshold_micro_usd", "risk_price_micro_usd", "persistence_ratio", "is_cold")
    INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CACHEABLE_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_PREFIX_KNOWN_FIELD_NUMBER: _ClassVar[int]
    CACHED_SHARE_RATIO_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    LEFTOVER_PREFIX_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_ACTION_COUNT_FIELD_NUMBER: _ClassVar[int]
    THRESHOLD_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    RISK_PRICE_MICRO_USD_FIELD_NUMBER: _ClassVar[int]
    PERSISTENCE_RATIO_FIELD_NUMBER: _ClassVar[int]
    IS_COLD_FIELD_NUMBER: _ClassVar[int]
    input_token_count: int
    cacheable_prefix_token_count: int
    is_prefix_known: bool
    cached_share_ratio: float
    output_token_count: int
    leftover_prefix_token_count: int
    remaining_action_count: int
    threshold_micro_usd: int
    risk_price_micro_usd: int
    persistence_ratio: float
    is_cold: bool
    def __init__(self, input_token_count: _Optional[int] = ..., cacheable_prefix_token_count: _Optional[int] = ..., is_prefix_known: _Optional[bool] = ..., cached_share_ratio: _Optional[float] = ..., output_token_count: _Optional[int] = ..., leftover_prefix_token_count: _Optional[int] = ..., remaining_action_count: _Optional[int] = ..., threshold_micro_usd: _Optional[int] = ..., risk_price_micro_usd: _Optional[int] = ..., persistence_ratio: _Optional[float] = ..., is_cold: _Optional[bool] = ...) -> None: ...
