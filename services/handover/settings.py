"""Settings of handover: the table ``[services.handover]``."""

from __future__ import annotations

from pydantic import Field

from services.runtime.settings import PositiveSeconds, ServiceSettings

MIB = 1024 * 1024


class HandoverSettings(ServiceSettings):
    """Who writes summaries, and how long they may take and be."""

    model: str = "claude-haiku-4-5"
    """Catalog id of the model that writes a summary where the call names none. Empty: nobody."""
    provider: str = "anthropic"
    """Provider that serves it."""
    timeout_seconds: PositiveSeconds = 8.0
    """Longest time for one summary, everything in it included; a call may only shorten it."""
    compaction_timeout_seconds: PositiveSeconds = 90.0
    """The same for the summary of a conversation that outgrew the windows, or that its client
    cut."""
    max_summary_tokens: int = Field(default=800, ge=1, le=4000)
    """Longest summary; a call may only lower it. Histories below four times as much are kept."""
    max_body_bytes: int = Field(default=32 * MIB, gt=0)
    """Largest client body; messages may be 1 MiB larger. Set it as at the gateway."""
