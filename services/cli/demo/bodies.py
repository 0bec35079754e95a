"""Requests of both dialects from one script, and what is read of their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from services.cli.demo.script import Kind, Script, Step, Surface

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Json = dict[str, object]

PATHS: Mapping[Surface, str] = {
    Surface.MESSAGES: "/v1/messages",
    Surface.CHAT: "/v1/chat/completions",
}
_CACHE = {"type": "ephemeral"}
_PATH_SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
}
_TITLE_SCHEMA = {
    "type": "object",
    "properties": {"title": {"type": "string"}},
    "required": ["title"],
    "additionalProperties": False,
}
_TOOL = {
    "name": "read_file",
    "description": "Return the text of a file.",
    "input_schema": _PATH_SCHEMA,
}


@dataclass(slots=True)
class Talk:
    """One session as it goes: grows by every request and its answer."""

    script: Script
    model: str
    messages: list[Json] = field(default_factory=list)

    def request(self, step: Step) -> Json | None:
        """Return the body of a step; None: it does not apply."""
        if step.kind is Kind.RESULT:
            calls = list(self._calls())
            if not calls:
                return None
            results = [
                {"type": "tool_result", "tool_use_id": call, "content": step.text} for call in calls
            ]
            self.messages.append({"role": "user", "content": results})
        elif step.kind is Kind.SAID:
            self.messages.append({"role": "user", "content": step.text})
        return self._chat(step) if self.script.surface is Surface.CHAT else self._plain(step)

    def answered(self, step: Step, document: Mapping[str, object]) -> None:
        """Take an answer into the history."""
        if step.kind in (Kind.ASIDE, Kind.TITLE):
            return
        if self.script.surface is Surface.MESSAGES:
            self.messages.append({"role": "assistant", "content": document.get("content")})
            return
        choices = document.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        message = first.get("message") if isinstance(first, dict) else None
        text = message.get("content") if isinstance(message, dict) else ""
        self.messages.append({"role": "assistant", "content": text or ""})

    def _calls(self) -> Iterator[str]:
        """Yield the ids of the tools that the last answer called."""
        content = self.messages[-1].get("content") if self.messages else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                yield str(block.get("id"))

    def _plain(self, step: Step) -> Json:
        body: Json = {"model": self.model, "max_tokens": step.max_tokens}
        if step.kind in (Kind.ASIDE, Kind.TITLE):
            body["messages"] = [{"role": "user", "content": step.text}]
            if step.kind is Kind.TITLE:
                shape = {"type": "json_schema", "schema": _TITLE_SCHEMA}
                body["output_config"] = {"format": shape}
            return body
        text = {"type": "text", "text": self.script.instructions, "cache_control": _CACHE}
        body["system"] = [text]
        body["messages"] = [*self.messages[:-1], _marked(self.messages[-1])]
        if self.script.has_tools:
            body["tools"] = [_TOOL]
        return body

    def _chat(self, step: Step) -> Json:
        history = self.messages
        if step.kind is Kind.ASIDE:
            history = [{"role": "user", "content": step.text}]
        system: Json = {"role": "system", "content": self.script.instructions}
        return {
            "model": self.model,
            "max_completion_tokens": step.max_tokens,
            "messages": [system, *history],
        }


def _marked(message: Json) -> Json:
    """Return a message that asks to cache the prompt up to its end."""
    content = message["content"]
    if isinstance(content, str):
        return {**message, "content": [{"type": "text", "text": content, "cache_control": _CACHE}]}
    if isinstance(content, list) and content and isinstance(content[-1], dict):
        return {**message, "content": [*content[:-1], {**content[-1], "cache_control": _CACHE}]}
    return message
