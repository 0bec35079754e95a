"""What kind of action a request is. Pure; what no rule recognises is the main loop."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from gateway.turns import marks, texts
from services.domain.vocab import TurnType
from services.domain.wire.features import LastKind
from services.domain.wire.reading import mapping, peek

if TYPE_CHECKING:
    from collections.abc import Callable

    from gateway.turns.client import Client
    from services.domain.vocab import WireFamily
    from services.domain.wire.features import Features
    from services.domain.wire.model import Request

    Rule = Callable[["Words", Features, Client], bool]

PROBE_LIMIT_TOKENS = 4
CLASSIFIER_LIMIT_TOKENS = 256
CLASSIFIER_MESSAGES = 3
LOOKED_AT_BYTES = 4096
TRANSCRIPT_WITHIN_BYTES = 64
MOST_APPS = 256
"""Names of programs whose marks are kept; clients may say any."""


class Words:
    """A request and its texts as marks are looked for in them, each made once it is wanted."""

    def __init__(self, request: Request) -> None:
        self.request = request

    @cached_property
    def heads(self) -> list[str]:
        """How the texts of the last message begin, in lower case."""
        latest = texts.last_user_texts(self.request)
        return [_head(text, LOOKED_AT_BYTES).lower() for text in latest]

    @cached_property
    def system(self) -> str:
        """The instructions in lower case."""
        return texts.system_text(self.request).lower()

    @cached_property
    def system_start(self) -> str:
        """How the instructions begin, in lower case."""
        start = texts.system_text(self.request)[:LOOKED_AT_BYTES]
        return start.lstrip().lower()


def turn_type_of(request: Request, features: Features, client: Client) -> TurnType:
    """Return the kind of action; the first rule that holds decides."""
    words = Words(request)
    for turn_type, is_met in _RULES:
        if is_met(words, features, client):
            return turn_type
    return TurnType.MAIN_LOOP


def _is_probe(_: Words, features: Features, __: Client) -> bool:
    return 1 <= features.max_output_tokens <= PROBE_LIMIT_TOKENS


def _is_title(words: Words, features: Features, client: Client) -> bool:
    if features.tool_count:
        return False
    title = mapping(_schema_properties(words.request).get("title"))
    return (
        title.get("type") == "string"
        or client.agent == "title"
        or _is_marked(TurnType.TITLE_GEN, words, client)
    )


def _is_compaction(words: Words, _: Features, client: Client) -> bool:
    return (
        client.agent == "compaction"
        or client.is_compaction
        or _is_marked(TurnType.COMPACTION, words, client)
    )


def _is_recap(words: Words, _: Features, client: Client) -> bool:
    return _is_marked(TurnType.RECAP, words, client)


def _is_sub_agent(words: Words, _: Features, client: Client) -> bool:
    request = words.request
    return (
        client.is_sub_agent
        or client.agent == "explore"
        or request.user.startswith(marks.SUB_AGENT_USER_PREFIX)
        or _is_flagged_in_billing_line(request)
        or marks.TRANSCRIPT_TAG in _head(texts.first_user_text(request), TRANSCRIPT_WITHIN_BYTES)
    )


def _is_classifier(words: Words, features: Features, _: Client) -> bool:
    if features.tool_count:
        return False
    is_short = 1 <= features.max_output_tokens <= CLASSIFIER_LIMIT_TOKENS
    if is_short and 1 <= features.message_count <= CLASSIFIER_MESSAGES:
        return True
    return _schema_properties(words.request).keys() >= marks.GEMINI_CLASSIFIER_PROPERTIES


def _is_tool_result(_: Words, features: Features, __: Client) -> bool:
    return features.last_kind is LastKind.TOOL_RESULT


_RULES: tuple[tuple[TurnType, Rule], ...] = (
    (TurnType.PROBE, _is_probe),
    (TurnType.TITLE_GEN, _is_title),
    (TurnType.COMPACTION, _is_compaction),
    (TurnType.RECAP, _is_recap),
    (TurnType.SUB_AGENT_DISPATCH, _is_sub_agent),
    (TurnType.CLASSIFIER, _is_classifier),
    (TurnType.TOOL_RESULT, _is_tool_result),
)


def _is_marked(turn_type: TurnType, words: Words, client: Client) -> bool:
    meant = _marks_of(turn_type, words.request.family, client.app)
    return any(_is_seen(mark, words) for mark in meant)


@lru_cache(maxsize=MOST_APPS)
def _marks_of(turn_type: TurnType, family: WireFamily, app: str) -> tuple[marks.TurnMark, ...]:
    """Return what marks a kind of action of one program on one surface."""
    return tuple(
        mark
        for mark in marks.TURN_MARKS
        if mark.turn_type is turn_type
        and family in mark.surfaces
        and (app == mark.app or (not app and not mark.is_app_required))
    )


def _is_seen(mark: marks.TurnMark, words: Words) -> bool:
    match mark.place:
        case marks.Place.LAST_USER_TEXT:
            return any(_holds_all(head, mark.phrases) for head in words.heads)
        case marks.Place.SYSTEM_START:
            return all(words.system_start.startswith(phrase) for phrase in mark.phrases)
        case marks.Place.SYSTEM:
            return _holds_all(words.system, mark.phrases)


def _holds_all(text: str, phrases: tuple[str, ...]) -> bool:
    return all(map(text.__contains__, phrases))


def _head(text: str, byte_count: int) -> str:
    head = text[:byte_count]
    return head if head.isascii() else texts.encoded(head)[:byte_count].decode("utf-8", "ignore")


def _is_flagged_in_billing_line(request: Request) -> bool:
    if not request.system:
        return False
    line = request.system[0].text.partition("\n")[0]
    return line.startswith(marks.BILLING_LINE) and marks.SUB_AGENT_FLAG in line


def _schema_properties(request: Request) -> dict[str, object]:
    if request.output.kind != "json_schema" or not request.output.schema:
        return {}
    schema = mapping(peek(request.output.schema))
    return dict(mapping(schema.get("properties")))
