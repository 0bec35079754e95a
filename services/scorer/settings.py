"""Settings of the scorer: the table ``[services.scorer]``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from services.runtime.settings import ServiceSettings

Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class ScorerSettings(ServiceSettings):
    """Which artifact scores, and what a bad answer costs."""

    artifacts: str = ""
    """Folder of artifact bundles. Empty: the ones that ship with the product."""
    artifact_version: str = ""
    """Bundle to serve. Empty: the one that the folder's file `latest` names."""
    risk_price_usd: Money = 0.10
    """What one answer that is not good enough costs; the gateway tells the planner."""
    encoder: str = ""
    """ONNX file of the sentence encoder that an artifact was trained with. Empty: none is."""
    embed_timeout_ms: int = Field(default=1_500, gt=0)
    """Longest that a text may take a sentence encoder before the answer is UNAVAILABLE."""
    embed_workers: int = Field(default=1, gt=0)
    """Threads that run a sentence encoder."""
    embedding_cache_entries: int = Field(default=4_096, ge=0)
    """Most texts whose vectors are kept, by digest. 0: none."""
    callers: tuple[str, ...] = ()
    """Who may call besides the gateway, named as its metadata `x-caller-service` says."""
