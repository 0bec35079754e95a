import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from pointsman.common.v1 import binding_pb2 as _binding_pb2
from pointsman.common.v1 import grant_pb2 as _grant_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExclusionLayer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXCLUSION_LAYER_UNSPECIFIED: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_OPERATOR: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_GATEWAY_MODE: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_PROVIDER_EXCLUDED: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_NO_CREDENTIAL: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_SESSION_PROVIDER: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_CONTEXT_WINDOW: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_UNSIGNED_TOOL_HISTORY: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_SATURATED: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_REQUIREMENT_INCOMPATIBLE: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_REQUIREMENT_UNAVAILABLE: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_ALLOWLIST: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_MODEL_EXCLUDED: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_PLAN_OVERLAY: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_ENDPOINT_REFUSED: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_AUTOMATIC: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_DEMOTION: _ClassVar[ExclusionLayer]
    EXCLUSION_LAYER_COOLDOWN: _ClassVar[ExclusionLayer]

class ProviderAvailability(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PROVIDER_AVAILABILITY_UNSPECIFIED: _ClassVar[ProviderAvailability]
    PROVIDER_AVAILABILITY_USABLE: _ClassVar[ProviderAvailability]
    PROVIDER_AVAILABILITY_WARNED: _ClassVar[ProviderAvailability]
    PROVIDER_AVAILABILITY_COOLING: _ClassVar[ProviderAvailability]
    PROVIDER_AVAILABILITY_DISABLED: _ClassVar[ProviderAvailability]
    PROVIDER_AVAILABILITY_BUSY: _ClassVar[ProviderAvailability]

class ForceSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    FORCE_SOURCE_UNSPECIFIED: _ClassVar[ForceSource]
    FORCE_SOURCE_HEADER: _ClassVar[ForceSource]
    FORCE_SOURCE_COMMAND: _ClassVar[ForceSource]
    FORCE_SOURCE_PIN: _ClassVar[ForceSource]

class PlanStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PLAN_STATUS_UNSPECIFIED: _ClassVar[PlanStatus]
    PLAN_STATUS_ACTIVE: _ClassVar[PlanStatus]
    PLAN_STATUS_EXHAUSTED: _ClassVar[PlanStatus]
    PLAN_STATUS_UNKNOWN: _ClassVar[PlanStatus]
    PLAN_STATUS_UNAVAILABLE: _ClassVar[PlanStatus]
EXCLUSION_LAYER_UNSPECIFIED: ExclusionLayer
EXCLUSION_LAYER_OPERATOR: ExclusionLayer
EXCLUSION_LAYER_GATEWAY_MODE: ExclusionLayer
EXCLUSION_LAYER_PROVIDER_EXCLUDED: ExclusionLayer
EXCLUSION_LAYER_NO_CREDENTIAL: ExclusionLayer
EXCLUSION_LAYER_SESSION_PROVIDER: ExclusionLayer
EXCLUSION_LAYER_CONTEXT_WINDOW: ExclusionLayer
EXCLUSION_LAYER_UNSIGNED_TOOL_HISTORY: ExclusionLayer
EXCLUSION_LAYER_SATURATED: ExclusionLayer
EXCLUSION_LAYER_REQUIREMENT_INCOMPATIBLE: ExclusionLayer
EXCLUSION_LAYER_REQUIREMENT_UNAVAILABLE: ExclusionLayer
EXCLUSION_LAYER_ALLOWLIST: ExclusionLayer
EXCLUSION_LAYER_MODEL_EXCLUDED: ExclusionLayer
EXCLUSION_LAYER_PLAN_OVERLAY: ExclusionLayer
EXCLUSION_LAYER_ENDPOINT_REFUSED: ExclusionLayer
EXCLUSION_LAYER_AUTOMATIC: ExclusionLayer
EXCLUSION_LAYER_DEMOTION: ExclusionLayer
EXCLUSION_LAYER_COOLDOWN: ExclusionLayer
PROVIDER_AVAILABILITY_UNSPECIFIED: ProviderAvailability
PROVIDER_AVAILABILITY_USABLE: ProviderAvailability
PROVIDER_AVAILABILITY_WARNED: ProviderAvailability
PROVIDER_AVAILABILITY_COOLING: ProviderAvailability
PROVIDER_AVAILABILITY_DISABLED: ProviderAvailability
PROVIDER_AVAILABILITY_BUSY: ProviderAvailability
FORCE_SOURCE_UNSPECIFIED: ForceSource
FORCE_SOURCE_HEADER: ForceSource
FORCE_SOURCE_COMMAND: ForceSource
FORCE_SOURCE_PIN: ForceSource
PLAN_STATUS_UNSPECIFIED: PlanStatus
PLAN_STATUS_ACTIVE: PlanStatus
PLAN_STATUS_EXHAUSTED: PlanStatus
PLAN_STATUS_UNKNOWN: PlanStatus
PLAN_STATUS_UNAVAILABLE: PlanStatus

class EligibilityRecord(_message.Message):
    __slots__ = ("record_id", "create_time", "installation_id", "catalog_version", "config_version", "credentials_version", "enabled_providers", "excluded_providers", "is_gateway_exclusive", "gateway_aliases", "allowed_models", "excluded_models", "automatic_excluded_models", "safety_excluded_models", "requirement_excluded_models", "excluded_bindings", "cluster_overrides", "preferred_model_ids", "forced", "plans", "suppressed_plans", "is_subscription_only", "operator_override", "presented_hashes")
    RECORD_ID_FIELD_NUMBER: _ClassVar[int]
    CREATE_TIME_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CREDENTIALS_VERSION_FIELD_NUMBER: _ClassVar[int]
    ENABLED_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    IS_GATEWAY_EXCLUSIVE_FIELD_NUMBER: _ClassVar[int]
    GATEWAY_ALIASES_FIELD_NUMBER: _ClassVar[int]
    ALLOWED_MODELS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_MODELS_FIELD_NUMBER: _ClassVar[int]
    AUTOMATIC_EXCLUDED_MODELS_FIELD_NUMBER: _ClassVar[int]
    SAFETY_EXCLUDED_MODELS_FIELD_NUMBER: _ClassVar[int]
    REQUIREMENT_EXCLUDED_MODELS_FIELD_NUMBER: _ClassVar[int]
    EXCLUDED_BINDINGS_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_OVERRIDES_FIELD_NUMBER: _ClassVar[int]
    PREFERRED_MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    FORCED_FIELD_NUMBER: _ClassVar[int]
    PLANS_FIELD_NUMBER: _ClassVar[int]
    SUPPRESSED_PLANS_FIELD_NUMBER: _ClassVar[int]
    IS_SUBSCRIPTION_ONLY_FIELD_NUMBER: _ClassVar[int]
    OPERATOR_OVERRIDE_FIELD_NUMBER: _ClassVar[int]
    PRESENTED_HASHES_FIELD_NUMBER: _ClassVar[int]
    record_id: str
    create_time: _timestamp_pb2.Timestamp
    installation_id: str
    catalog_version: str
    config_version: str
    credentials_version: str
    enabled_providers: ProviderEligibilitySet
    excluded_providers: _containers.RepeatedCompositeFieldContainer[ProviderExclusion]
    is_gateway_exclusive: bool
    gateway_aliases: _containers.RepeatedCompositeFieldContainer[GatewayAliases]
    allowed_models: _binding_pb2.ModelSet
    excluded_models: _containers.RepeatedCompositeFieldContainer[ModelExclusion]
    automatic_excluded_models: _containers.RepeatedCompositeFieldContainer[ModelExclusion]
    safety_excluded_models: _containers.RepeatedCompositeFieldContainer[ModelExclusion]
    requirement_excluded_models: _containers.RepeatedCompositeFieldContainer[ModelExclusion]
    excluded_bindings: _containers.RepeatedCompositeFieldContainer[BindingExclusion]
    cluster_overrides: _containers.RepeatedCompositeFieldContainer[ClusterOverride]
    preferred_model_ids: _containers.RepeatedScalarFieldContainer[str]
    forced: ForcedChoice
    plans: _containers.RepeatedCompositeFieldContainer[PlanState]
    suppressed_plans: _containers.RepeatedCompositeFieldContainer[_grant_pb2.SuppressedPlan]
    is_subscription_only: bool
    operator_override: OperatorOverride
    presented_hashes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, record_id: _Optional[str] = ..., create_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., installation_id: _Optional[str] = ..., catalog_version: _Optional[str] = ..., config_version: _Optional[str] = ..., credentials_version: _Optional[str] = ..., enabled_providers: _Optional[_Union[ProviderEligibilitySet, _Mapping]] = ..., excluded_providers: _Optional[_Iterable[_Union[ProviderExclusion, _Mapping]]] = ..., is_gateway_exclusive: _Optional[bool] = ..., gateway_aliases: _Optional[_Iterable[_Union[GatewayAliases, _Mapping]]] = ..., allowed_models: _Optional[_Union[_binding_pb2.ModelSet, _Mapping]] = ..., excluded_models: _Optional[_Iterable[_Union[ModelExclusion, _Mapping]]] = ..., automatic_excluded_models: _Optional[_Iterable[_Union[ModelExclusion, _Mapping]]] = ..., safety_excluded_models: _Optional[_Iterable[_Union[ModelExclusion, _Mapping]]] = ..., requirement_excluded_models: _Optional[_Iterable[_Union[ModelExclusion, _Mapping]]] = ..., excluded_bindings: _Optional[_Iterable[_Union[BindingExclusion, _Mapping]]] = ..., cluster_overrides: _Optional[_Iterable[_Union[ClusterOverride, _Mapping]]] = ..., preferred_model_ids: _Optional[_Iterable[str]] = ..., forced: _Optional[_Union[ForcedChoice, _Mapping]] = ..., plans: _Optional[_Iterable[_Union[PlanState, _Mapping]]] = ..., suppressed_plans: _Optional[_Iterable[_Union[_grant_pb2.SuppressedPlan, _Mapping]]] = ..., is_subscription_only: _Optional[bool] = ..., operator_override: _Optional[_Union[OperatorOverride, _Mapping]] = ..., presented_hashes: _Optional[_Iterable[str]] = ...) -> None: ...

class ProviderEligibilitySet(_message.Message):
    __slots__ = ("providers",)
    PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    providers: _containers.RepeatedCompositeFieldContainer[ProviderEligibility]
    def __init__(self, providers: _Optional[_Iterable[_Union[ProviderEligibility, _Mapping]]] = ...) -> None: ...

class ProviderEligibility(_message.Message):
    __slots__ = ("provider", "availability", "owners", "kinds", "recover_time", "headroom_ratio", "family_headrooms")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    AVAILABILITY_FIELD_NUMBER: _ClassVar[int]
    OWNERS_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    RECOVER_TIME_FIELD_NUMBER: _ClassVar[int]
    HEADROOM_RATIO_FIELD_NUMBER: _ClassVar[int]
    FAMILY_HEADROOMS_FIELD_NUMBER: _ClassVar[int]
    provider: str
    availability: ProviderAvailability
    owners: _containers.RepeatedScalarFieldContainer[_grant_pb2.CredentialOwner]
    kinds: _containers.RepeatedScalarFieldContainer[_grant_pb2.CredentialKind]
    recover_time: _timestamp_pb2.Timestamp
    headroom_ratio: float
    family_headrooms: _containers.RepeatedCompositeFieldContainer[FamilyHeadroom]
    def __init__(self, provider: _Optional[str] = ..., availability: _Optional[_Union[ProviderAvailability, str]] = ..., owners: _Optional[_Iterable[_Union[_grant_pb2.CredentialOwner, str]]] = ..., kinds: _Optional[_Iterable[_Union[_grant_pb2.CredentialKind, str]]] = ..., recover_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., headroom_ratio: _Optional[float] = ..., family_headrooms: _Optional[_Iterable[_Union[FamilyHeadroom, _Mapping]]] = ...) -> None: ...

class FamilyHeadroom(_message.Message):
    __slots__ = ("family", "headroom_ratio")
    FAMILY_FIELD_NUMBER: _ClassVar[int]
    HEADROOM_RATIO_FIELD_NUMBER: _ClassVar[int]
    family: str
    headroom_ratio: float
    def __init__(self, family: _Optional[str] = ..., headroom_ratio: _Optional[float] = ...) -> None: ...

class ProviderExclusion(_message.Message):
    __slots__ = ("provider", "layer")
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    provider: str
    layer: ExclusionLayer
    def __init__(self, provider: _Optional[str] = ..., layer: _Optional[_Union[ExclusionLayer, str]] = ...) -> None: ...

class ModelExclusion(_message.Message):
    __slots__ = ("model_id", "layer", "expire_time")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    EXPIRE_TIME_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    layer: ExclusionLayer
    expire_time: _timestamp_pb2.Timestamp
    def __init__(self, model_id: _Optional[str] = ..., layer: _Optional[_Union[ExclusionLayer, str]] = ..., expire_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class BindingExclusion(_message.Message):
    __slots__ = ("model_id", "provider", "layer")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    LAYER_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    provider: str
    layer: ExclusionLayer
    def __init__(self, model_id: _Optional[str] = ..., provider: _Optional[str] = ..., layer: _Optional[_Union[ExclusionLayer, str]] = ...) -> None: ...

class GatewayAliases(_message.Message):
    __slots__ = ("provider", "credential_fingerprint", "upstream_id_by_model")
    class UpstreamIdByModelEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    CREDENTIAL_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_ID_BY_MODEL_FIELD_NUMBER: _ClassVar[int]
    provider: str
    credential_fingerprint: str
    upstream_id_by_model: _containers.ScalarMap[str, str]
    def __init__(self, provider: _Optional[str] = ..., credential_fingerprint: _Optional[str] = ..., upstream_id_by_model: _Optional[_Mapping[str, str]] = ...) -> None: ...

class ClusterOverride(_message.Message):
    __slots__ = ("cluster_label", "model_ids")
    CLUSTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    cluster_label: str
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, cluster_label: _Optional[str] = ..., model_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class ForcedChoice(_message.Message):
    __slots__ = ("model_id", "cluster_label", "source")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    CLUSTER_LABEL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    cluster_label: str
    source: ForceSource
    def __init__(self, model_id: _Optional[str] = ..., cluster_label: _Optional[str] = ..., source: _Optional[_Union[ForceSource, str]] = ...) -> None: ...

class OperatorOverride(_message.Message):
    __slots__ = ("reason", "is_model_list_replaced", "is_provider_list_replaced")
    REASON_FIELD_NUMBER: _ClassVar[int]
    IS_MODEL_LIST_REPLACED_FIELD_NUMBER: _ClassVar[int]
    IS_PROVIDER_LIST_REPLACED_FIELD_NUMBER: _ClassVar[int]
    reason: str
    is_model_list_replaced: bool
    is_provider_list_replaced: bool
    def __init__(self, reason: _Optional[str] = ..., is_model_list_replaced: _Optional[bool] = ..., is_provider_list_replaced: _Optional[bool] = ...) -> None: ...

class PlanState(_message.Message):
    __slots__ = ("kind", "status", "owner", "utilization_ratio", "windows", "covered_models")
    KIND_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    OWNER_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_RATIO_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    COVERED_MODELS_FIELD_NUMBER: _ClassVar[int]
    kind: _grant_pb2.CredentialKind
    status: PlanStatus
    owner: _grant_pb2.CredentialOwner
    utilization_ratio: float
    windows: _containers.RepeatedCompositeFieldContainer[PlanWindow]
    covered_models: _binding_pb2.ModelSet
    def __init__(self, kind: _Optional[_Union[_grant_pb2.CredentialKind, str]] = ..., status: _Optional[_Union[PlanStatus, str]] = ..., owner: _Optional[_Union[_grant_pb2.CredentialOwner, str]] = ..., utilization_ratio: _Optional[float] = ..., windows: _Optional[_Iterable[_Union[PlanWindow, _Mapping]]] = ..., covered_models: _Optional[_Union[_binding_pb2.ModelSet, _Mapping]] = ...) -> None: ...

class PlanWindow(_message.Message):
    __slots__ = ("window", "utilization_ratio", "reset_time", "is_warned", "is_rejected")
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_RATIO_FIELD_NUMBER: _ClassVar[int]
    RESET_TIME_FIELD_NUMBER: _ClassVar[int]
    IS_WARNED_FIELD_NUMBER: _ClassVar[int]
    IS_REJECTED_FIELD_NUMBER: _ClassVar[int]
    window: str
    utilization_ratio: float
    reset_time: _timestamp_pb2.Timestamp
    is_warned: bool
    is_rejected: bool
    def __init__(self, window: _Optional[str] = ..., utilization_ratio: _Optional[float] = ..., reset_time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., is_warned: _Optional[bool] = ..., is_rejected: _Optional[bool] = ...) -> None: ...
