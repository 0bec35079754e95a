"""Settings of the credentials service: the table ``[services.credentials]``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from services.runtime.settings import DatabaseUrl, PositiveSeconds, Seconds, ServiceSettings


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise ValueError("must be an http:// or https:// address")
    return url


TokenUrl = Annotated[str, AfterValidator(_address)]


class CredentialsSettings(ServiceSettings):
    """How credentials are stored and chosen."""

    database: DatabaseUrl = "sqlite:///~/.pointsman/credentials.db"
    """``sqlite:///FILE`` or ``postgresql://…``; its tables live in the schema ``credentials``."""
    encryption_keys: tuple[SecretStr, ...] = ()
    """32 bytes each, base64 or hex; the first encrypts, all decrypt. Empty with SQLite: a private
    key file beside the database."""
    token_journal: str = ""
    """Directory that keeps new tokens of accounts, sealed, until the store has them. Empty: beside
    the SQLite file, else `~/.pointsman/tokens`."""
    strategy: Literal["round_robin", "fill_first", "weighted"] = "round_robin"
    """How one of several equal credentials is chosen."""
    session_affinity: bool = True
    """Whether a session stays on its credential while that can serve."""
    session_affinity_seconds: PositiveSeconds = 3_600.0
    """How long a silent session keeps its credential."""
    affinity_survives_warning: bool = False
    """Whether a session keeps a credential that has an early warning while a clean one is free."""
    cooling: bool = True
    """Whether quota rejections block a credential that does not say so itself."""
    default_priorities: dict[str, int] = Field(default_factory=dict)
    """Priority of credentials that state none, by `provider` or `provider/kind`; else 0."""
    warning_fallback_age_seconds: Seconds = 1_800.0
    """How long an early warning without a reset counts; 0: until the upstream clears it."""
    codex_warn_percent: float = Field(default=0.0, ge=0, le=100)
    """Use of a Codex window from which on it counts as an early warning; 0: none does."""
    backoff_base_seconds: PositiveSeconds = 1.0
    """First block of a throttle that names no end; each further one is twice as long."""
    backoff_ceiling_seconds: PositiveSeconds = 1_800.0
    """Longest block of a throttle that names no end."""
    trial_after_seconds: Seconds = 900.0
    """Where every account is blocked for longer, a live request may try one now and then; 0: none
    does."""
    trial_interval_seconds: PositiveSeconds = 900.0
    """Pause before the first trial of an account; each further one waits twice as long, 2 h at
    most."""
    transient_mark_seconds: Seconds = 60.0
    """How long others come first after a failure of the provider's; 0: not at all."""
    lease_ttl_seconds: PositiveSeconds = 60.0
    """How long a grant holds its slot without a report."""
    force_prefix: bool = False
    """Whether credentials with a `model_prefix` serve only models that are asked with it."""
    claude_token_url: TokenUrl = "https://console.anthropic.com/v1/oauth/token"  # noqa: S105 - an address
    """Where tokens of Claude accounts are refreshed."""
    codex_token_url: TokenUrl = "https://auth.openai.com/oauth/token"  # noqa: S105 - an address
    """Where tokens of Codex accounts are refreshed."""
    gemini_token_url: TokenUrl = "https://oauth2.googleapis.com/token"  # noqa: S105 - an address
    """Where tokens of Gemini accounts are refreshed."""
    claude_client_id: str = "9d1c250a-e61b-44d9-88ed-5944d1962f5e"
    """Program that Claude accounts were logged in with: Claude Code."""
    codex_client_id: str = "app_EMoamEEZ73f0CkXaXp7hrann"
    """Program that Codex accounts were logged in with: Codex."""
    gemini_client_id: str = (
        "681255809395-oo8ft2oprdrnp9e3aqf6av3hmdib135j.apps.googleusercontent.com"
    )
    """Program that Gemini accounts were logged in with: Gemini CLI."""
    gemini_client_secret: SecretStr = SecretStr("")
    """Its secret, which its published source states; without it Google refreshes nothing."""
    poll_seconds: Annotated[Seconds, Field(le=5.0)] = 1.0
    """How often the store is asked what other processes wrote; 0: never."""
