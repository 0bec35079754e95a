"""The vendors' SDKs as they talk to the product, each behind one face."""

from __future__ import annotations

from collections.abc import Mapping

from services.domain.vocab import WireFamily
from tests.e2e.talkers.chat import open_chat
from tests.e2e.talkers.gemini import open_gemini
from tests.e2e.talkers.messages import open_messages
from tests.e2e.talkers.responses import open_responses
from tests.e2e.talkers.talker import OpenTalker, Place, Refused, Talker

TALKERS: Mapping[WireFamily, OpenTalker] = {
    WireFamily.ANTHROPIC: open_messages,
    WireFamily.OPENAI_CHAT: open_chat,
    WireFamily.OPENAI_RESPONSES: open_responses,
    WireFamily.GEMINI: open_gemini,
}

__all__ = ["TALKERS", "OpenTalker", "Place", "Refused", "Talker"]
