from pointsman.common.v1 import action_pb2 as _action_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ExcerptRole(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EXCERPT_ROLE_UNSPECIFIED: _ClassVar[ExcerptRole]
    EXCERPT_ROLE_SYSTEM: _ClassVar[ExcerptRole]
    EXCERPT_ROLE_USER: _ClassVar[ExcerptRole]
    EXCERPT_ROLE_ASSISTANT: _ClassVar[ExcerptRole]
    EXCERPT_ROLE_TOOL: _ClassVar[ExcerptRole]
EXCERPT_ROLE_UNSPECIFIED: ExcerptRole
EXCERPT_ROLE_SYSTEM: ExcerptRole
EXCERPT_ROLE_USER: ExcerptRole
EXCERPT_ROLE_ASSISTANT: ExcerptRole
EXCERPT_ROLE_TOOL: ExcerptRole

class RequestBody(_message.Message):
    __slots__ = ("wire_family", "body", "path_model", "is_stream")
    WIRE_FAMILY_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    PATH_MODEL_FIELD_NUMBER: _ClassVar[int]
    IS_STREAM_FIELD_NUMBER: _ClassVar[int]
    wire_family: _action_pb2.WireFamily
    body: bytes
    path_model: str
    is_stream: bool
    def __init__(self, wire_family: _Optional[_Union[_action_pb2.WireFamily, str]] = ..., body: _Optional[bytes] = ..., path_model: _Optional[str] = ..., is_stream: _Optional[bool] = ...) -> None: ...

class ConversationExcerpt(_message.Message):
    __slots__ = ("messages", "tool_names", "is_truncated")
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAMES_FIELD_NUMBER: _ClassVar[int]
    IS_TRUNCATED_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[ExcerptMessage]
    tool_names: _containers.RepeatedScalarFieldContainer[str]
    is_truncated: bool
    def __init__(self, messages: _Optional[_Iterable[_Union[ExcerptMessage, _Mapping]]] = ..., tool_names: _Optional[_Iterable[str]] = ..., is_truncated: _Optional[bool] = ...) -> None: ...

class ExcerptMessage(_message.Message):
    __slots__ = ("role", "text", "tool_names")
    ROLE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    TOOL_NAMES_FIELD_NUMBER: _ClassVar[int]
    role: ExcerptRole
    text: str
    tool_names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, role: _Optional[_Union[ExcerptRole, str]] = ..., text: _Optional[str] = ..., tool_names: _Optional[_Iterable[str]] = ...) -> None: ...
