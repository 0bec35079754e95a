"""Settings of the credentials service: the table ``[services.credentials]``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, SecretStr

from services.runtime.settings import DatabaseUrl, PositiveSeconds, Seconds, ServiceSettings


class CredentialsSettings(ServiceSettings):
    """How credentials are stored and chosen."""

    database: DatabaseUrl = "sqlite:///~/.pointsman/credentials.db"
    """``sqlite:///FILE`` or ``postgresql://…``; its tables live in the schema ``credentials``."""
    encryption_keys: tuple[SecretStr, ...] = ()
    """32 bytes each, base64 or hex; the first encrypts, all decrypt. Empty with SQLite: a private
    key file beside the database."""
    strategy: Literal["round_robin", "fill_first", "weighted"] = "round_robin"
    """How one of several equal credentials is chosen."""
    session_affinity: bool = True
    """Whether a session stays on its credential while that can serve."""
    session_affinity_seconds: PositiveSeconds = 3_600.0
    """How long a silent session keeps its credential."""
    lease_ttl_seconds: PositiveSeconds = 60.0
    """How long a grant holds its slot without a report."""
    poll_seconds: Annotated[Seconds, Field(le=5.0)] = 1.0
    """How often the store is asked what other processes wrote; 0: never."""
