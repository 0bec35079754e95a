from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ModelTier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MODEL_TIER_UNSPECIFIED: _ClassVar[ModelTier]
    MODEL_TIER_LOW: _ClassVar[ModelTier]
    MODEL_TIER_MID: _ClassVar[ModelTier]
    MODEL_TIER_HIGH: _ClassVar[ModelTier]
    MODEL_TIER_TOP: _ClassVar[ModelTier]
MODEL_TIER_UNSPECIFIED: ModelTier
MODEL_TIER_LOW: ModelTier
MODEL_TIER_MID: ModelTier
MODEL_TIER_HIGH: ModelTier
MODEL_TIER_TOP: ModelTier

class BindingRef(_message.Message):
    __slots__ = ("model_id", "provider", "upstream_id", "binding_index")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    UPSTREAM_ID_FIELD_NUMBER: _ClassVar[int]
    BINDING_INDEX_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    provider: str
    upstream_id: str
    binding_index: int
    def __init__(self, model_id: _Optional[str] = ..., provider: _Optional[str] = ..., upstream_id: _Optional[str] = ..., binding_index: _Optional[int] = ...) -> None: ...

class Price(_message.Message):
    __slots__ = ("input_micro_usd_per_mtok", "output_micro_usd_per_mtok", "cache_read_multiplier", "cache_write_multiplier", "cache_write_one_hour_multiplier", "long_context")
    INPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_ONE_HOUR_MULTIPLIER_FIELD_NUMBER: _ClassVar[int]
    LONG_CONTEXT_FIELD_NUMBER: _ClassVar[int]
    input_micro_usd_per_mtok: int
    output_micro_usd_per_mtok: int
    cache_read_multiplier: float
    cache_write_multiplier: float
    cache_write_one_hour_multiplier: float
    long_context: LongContextPrice
    def __init__(self, input_micro_usd_per_mtok: _Optional[int] = ..., output_micro_usd_per_mtok: _Optional[int] = ..., cache_read_multiplier: _Optional[float] = ..., cache_write_multiplier: _Optional[float] = ..., cache_write_one_hour_multiplier: _Optional[float] = ..., long_context: _Optional[_Union[LongContextPrice, _Mapping]] = ...) -> None: ...

class LongContextPrice(_message.Message):
    __slots__ = ("threshold_token_count", "input_micro_usd_per_mtok", "output_micro_usd_per_mtok")
    THRESHOLD_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    INPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_MICRO_USD_PER_MTOK_FIELD_NUMBER: _ClassVar[int]
    threshold_token_count: int
    input_micro_usd_per_mtok: int
    output_micro_usd_per_mtok: int
    def __init__(self, threshold_token_count: _Optional[int] = ..., input_micro_usd_per_mtok: _Optional[int] = ..., output_micro_usd_per_mtok: _Optional[int] = ...) -> None: ...

class BindingPrice(_message.Message):
    __slots__ = ("binding", "price")
    BINDING_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    binding: BindingRef
    price: Price
    def __init__(self, binding: _Optional[_Union[BindingRef, _Mapping]] = ..., price: _Optional[_Union[Price, _Mapping]] = ...) -> None: ...

class ModelSet(_message.Message):
    __slots__ = ("model_ids",)
    MODEL_IDS_FIELD_NUMBER: _ClassVar[int]
    model_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, model_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class Versions(_message.Message):
    __slots__ = ("service_version", "catalog_version", "config_version", "artifact_version", "artifact_digest", "eligibility_id")
    SERVICE_VERSION_FIELD_NUMBER: _ClassVar[int]
    CATALOG_VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_VERSION_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_VERSION_FIELD_NUMBER: _ClassVar[int]
    ARTIFACT_DIGEST_FIELD_NUMBER: _ClassVar[int]
    ELIGIBILITY_ID_FIELD_NUMBER: _ClassVar[int]
    service_version: str
    catalog_version: str
    config_version: str
    artifact_version: str
    artifact_digest: str
    eligibility_id: str
    def __init__(self, service_version: _Optional[str] = ..., catalog_version: _Optional[str] = ..., config_version: _Optional[str] = ..., artifact_version: _Optional[str] = ..., artifact_digest: _Optional[str] = ..., eligibility_id: _Optional[str] = ...) -> None: ...
