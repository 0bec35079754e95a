from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WireFamily(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    WIRE_FAMILY_UNSPECIFIED: _ClassVar[WireFamily]
    WIRE_FAMILY_ANTHROPIC: _ClassVar[WireFamily]
    WIRE_FAMILY_OPENAI_CHAT: _ClassVar[WireFamily]
    WIRE_FAMILY_OPENAI_RESPONSES: _ClassVar[WireFamily]
    WIRE_FAMILY_GEMINI: _ClassVar[WireFamily]

class TurnType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TURN_TYPE_UNSPECIFIED: _ClassVar[TurnType]
    TURN_TYPE_PROBE: _ClassVar[TurnType]
    TURN_TYPE_TITLE_GEN: _ClassVar[TurnType]
    TURN_TYPE_COMPACTION: _ClassVar[TurnType]
    TURN_TYPE_RECAP: _ClassVar[TurnType]
    TURN_TYPE_SUB_AGENT_DISPATCH: _ClassVar[TurnType]
    TURN_TYPE_CLASSIFIER: _ClassVar[TurnType]
    TURN_TYPE_TOOL_RESULT: _ClassVar[TurnType]
    TURN_TYPE_MAIN_LOOP: _ClassVar[TurnType]

class LastKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LAST_KIND_UNSPECIFIED: _ClassVar[LastKind]
    LAST_KIND_USER_PROMPT: _ClassVar[LastKind]
    LAST_KIND_TOOL_RESULT: _ClassVar[LastKind]
    LAST_KIND_ASSISTANT: _ClassVar[LastKind]
    LAST_KIND_NONE: _ClassVar[LastKind]

class Requirement(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REQUIREMENT_UNSPECIFIED: _ClassVar[Requirement]
    REQUIREMENT_NATIVE_ONLY: _ClassVar[Requirement]
    REQUIREMENT_IMAGES: _ClassVar[Requirement]
    REQUIREMENT_REMOTE_IMAGE: _ClassVar[Requirement]
    REQUIREMENT_DOCUMENTS: _ClassVar[Requirement]
    REQUIREMENT_AUDIO: _ClassVar[Requirement]
    REQUIREMENT_VIDEO: _ClassVar[Requirement]
    REQUIREMENT_VENDOR_FILE: _ClassVar[Requirement]
    REQUIREMENT_REASONING_STATE: _ClassVar[Requirement]
    REQUIREMENT_SERVER_TOOLS: _ClassVar[Requirement]
    REQUIREMENT_CITATIONS: _ClassVar[Requirement]
    REQUIREMENT_STRUCTURED_OUTPUT: _ClassVar[Requirement]
    REQUIREMENT_LOGPROBS: _ClassVar[Requirement]
    REQUIREMENT_MULTI_CANDIDATE: _ClassVar[Requirement]
    REQUIREMENT_MANY_TOOLS: _ClassVar[Requirement]
    REQUIREMENT_SIGNED_TOOL_HISTORY: _ClassVar[Requirement]
    REQUIREMENT_FORCED_CALL: _ClassVar[Requirement]
    REQUIREMENT_REMOTE_DOCUMENT: _ClassVar[Requirement]
    REQUIREMENT_OTHER_AUDIO: _ClassVar[Requirement]
WIRE_FAMILY_UNSPECIFIED: WireFamily
WIRE_FAMILY_ANTHROPIC: WireFamily
WIRE_FAMILY_OPENAI_CHAT: WireFamily
WIRE_FAMILY_OPENAI_RESPONSES: WireFamily
WIRE_FAMILY_GEMINI: WireFamily
TURN_TYPE_UNSPECIFIED: TurnType
TURN_TYPE_PROBE: TurnType
TURN_TYPE_TITLE_GEN: TurnType
TURN_TYPE_COMPACTION: TurnType
TURN_TYPE_RECAP: TurnType
TURN_TYPE_SUB_AGENT_DISPATCH: TurnType
TURN_TYPE_CLASSIFIER: TurnType
TURN_TYPE_TOOL_RESULT: TurnType
TURN_TYPE_MAIN_LOOP: TurnType
LAST_KIND_UNSPECIFIED: LastKind
LAST_KIND_USER_PROMPT: LastKind
LAST_KIND_TOOL_RESULT: LastKind
LAST_KIND_ASSISTANT: LastKind
LAST_KIND_NONE: LastKind
REQUIREMENT_UNSPECIFIED: Requirement
REQUIREMENT_NATIVE_ONLY: Requirement
REQUIREMENT_IMAGES: Requirement
REQUIREMENT_REMOTE_IMAGE: Requirement
REQUIREMENT_DOCUMENTS: Requirement
REQUIREMENT_AUDIO: Requirement
REQUIREMENT_VIDEO: Requirement
REQUIREMENT_VENDOR_FILE: Requirement
REQUIREMENT_REASONING_STATE: Requirement
REQUIREMENT_SERVER_TOOLS: Requirement
REQUIREMENT_CITATIONS: Requirement
REQUIREMENT_STRUCTURED_OUTPUT: Requirement
REQUIREMENT_LOGPROBS: Requirement
REQUIREMENT_MULTI_CANDIDATE: Requirement
REQUIREMENT_MANY_TOOLS: Requirement
REQUIREMENT_SIGNED_TOOL_HISTORY: Requirement
REQUIREMENT_FORCED_CALL: Requirement
REQUIREMENT_REMOTE_DOCUMENT: Requirement
REQUIREMENT_OTHER_AUDIO: Requirement

class ActionContext(_message.Message):
    __slots__ = ("action_id", "installation_id", "router_key_id", "user_id", "session_key", "role", "client_app", "surface", "turn_type", "client_request_id")
    ACTION_ID_FIELD_NUMBER: _ClassVar[int]
    INSTALLATION_ID_FIELD_NUMBER: _ClassVar[int]
    ROUTER_KEY_ID_FIELD_NUMBER: _ClassVar[int]
    USER_ID_FIELD_NUMBER: _ClassVar[int]
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_APP_FIELD_NUMBER: _ClassVar[int]
    SURFACE_FIELD_NUMBER: _ClassVar[int]
    TURN_TYPE_FIELD_NUMBER: _ClassVar[int]
    CLIENT_REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    action_id: str
    installation_id: str
    router_key_id: str
    user_id: str
    session_key: bytes
    role: str
    client_app: str
    surface: WireFamily
    turn_type: TurnType
    client_request_id: str
    def __init__(self, action_id: _Optional[str] = ..., installation_id: _Optional[str] = ..., router_key_id: _Optional[str] = ..., user_id: _Optional[str] = ..., session_key: _Optional[bytes] = ..., role: _Optional[str] = ..., client_app: _Optional[str] = ..., surface: _Optional[_Union[WireFamily, str]] = ..., turn_type: _Optional[_Union[TurnType, str]] = ..., client_request_id: _Optional[str] = ...) -> None: ...

class RequestFeatures(_message.Message):
    __slots__ = ("requested_model", "input_token_count", "text_token_count", "overflow_token_count", "full_token_count", "signature_token_count", "max_output_token_count", "last_kind", "tool_count", "image_count", "message_count", "tool_call_count", "is_streaming", "effort", "requirements", "body_bytes", "is_history_trimmed")
    REQUESTED_MODEL_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    TEXT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    OVERFLOW_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    FULL_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    SIGNATURE_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKEN_COUNT_FIELD_NUMBER: _ClassVar[int]
    LAST_KIND_FIELD_NUMBER: _ClassVar[int]
    TOOL_COUNT_FIELD_NUMBER: _ClassVar[int]
    IMAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_COUNT_FIELD_NUMBER: _ClassVar[int]
    TOOL_CALL_COUNT_FIELD_NUMBER: _ClassVar[int]
    IS_STREAMING_FIELD_NUMBER: _ClassVar[int]
    EFFORT_FIELD_NUMBER: _ClassVar[int]
    REQUIREMENTS_FIELD_NUMBER: _ClassVar[int]
    BODY_BYTES_FIELD_NUMBER: _ClassVar[int]
    IS_HISTORY_TRIMMED_FIELD_NUMBER: _ClassVar[int]
    requested_model: str
    input_token_count: int
    text_token_count: int
    overflow_token_count: int
    full_token_count: int
    signature_token_count: int
    max_output_token_count: int
    last_kind: LastKind
    tool_count: int
    image_count: int
    message_count: int
    tool_call_count: int
    is_streaming: bool
    effort: str
    requirements: _containers.RepeatedScalarFieldContainer[Requirement]
    body_bytes: int
    is_history_trimmed: bool
    def __init__(self, requested_model: _Optional[str] = ..., input_token_count: _Optional[int] = ..., text_token_count: _Optional[int] = ..., overflow_token_count: _Optional[int] = ..., full_token_count: _Optional[int] = ..., signature_token_count: _Optional[int] = ..., max_output_token_count: _Optional[int] = ..., last_kind: _Optional[_Union[LastKind, str]] = ..., tool_count: _Optional[int] = ..., image_count: _Optional[int] = ..., message_count: _Optional[int] = ..., tool_call_count: _Optional[int] = ..., is_streaming: _Optional[bool] = ..., effort: _Optional[str] = ..., requirements: _Optional[_Iterable[_Union[Requirement, str]]] = ..., body_bytes: _Optional[int] = ..., is_history_trimmed: _Optional[bool] = ...) -> None: ...
