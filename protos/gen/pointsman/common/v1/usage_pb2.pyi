from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class UsageSource(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    USAGE_SOURCE_UNSPECIFIED: _ClassVar[UsageSource]
    USAGE_SOURCE_REPORTED: _ClassVar[UsageSource]
    USAGE_SOURCE_PARTIAL: _ClassVar[UsageSource]
    USAGE_SOURCE_ESTIMATED: _ClassVar[UsageSource]

class StopReason(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STOP_REASON_UNSPECIFIED: _ClassVar[StopReason]
    STOP_REASON_END_TURN: _ClassVar[StopReason]
    STOP_REASON_STOP_SEQUENCE: _ClassVar[StopReason]
    STOP_REASON_TOOL_USE: _ClassVar[StopReason]
    STOP_REASON_MAX_TOKENS: _ClassVar[StopReason]
    STOP_REASON_CONTEXT_FULL: _ClassVar[StopReason]
    STOP_REASON_REFUSAL: _ClassVar[StopReason]
    STOP_REASON_PAUSE: _ClassVar[StopReason]
    STOP_REASON_MALFORMED: _ClassVar[StopReason]
USAGE_SOURCE_UNSPECIFIED: UsageSource
USAGE_SOURCE_REPORTED: UsageSource
USAGE_SOURCE_PARTIAL: UsageSource
USAGE_SOURCE_ESTIMATED: UsageSource
STOP_REASON_UNSPECIFIED: StopReason
STOP_REASON_END_TURN: StopReason
STOP_REASON_STOP_SEQUENCE: StopReason
STOP_REASON_TOOL_USE: StopReason
STOP_REASON_MAX_TOKENS: StopReason
STOP_REASON_CONTEXT_FULL: StopReason
STOP_REASON_REFUSAL: StopReason
STOP_REASON_PAUSE: StopReason
STOP_REASON_MALFORMED: StopReason

class Usage(_message.Message):
    __slots__ = ("fresh_input_token_count", "cache_read_token_count", "cache_write_token_count", "cache_write_one_hour_token_count", "output_token_count", "reasoning_token_count", "server_tool_call_count", "source")
    FRESH_INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_ONE_HOUR_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    REASONING_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SERVER_TOOL_CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    fresh_input_token_count: int
    cache_read_token_count: int
    cache_write_token_count: int
    cache_write_one_hour_token_count: int
    output_token_count: int
    reasoning_token_count: int
    server_tool_call_count: int
    source: UsageSource
    def __init__(self, fresh_input_token_count: _Optional[int] = ..., cache_read_token_count: _Optional[int] = ..., cache_write_token_count: _Optional[int] = ..., cache_write_one_hour_token_count: _Optional[int] = ..., output_token_count: _Optional[int] = ..., reasoning_token_count: _Optional[int] = ..., server_tool_call_count: _Optional[int] = ..., source: _Optional[_Union[UsageSource, str]] = ...) -> None: ...
