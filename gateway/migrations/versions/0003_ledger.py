"""The ledger: one row for every attempt, and what each key has spent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_TEXTS = (
    "action_id",
    "kind",
    "installation_id",
    "key_id",
    "client_request_id",
    "surface",
    "requested_model",
    "model",
    "provider",
    "outcome",
    "source",
    "fingerprint",
    "credential_kind",
    "credential_owner",
    "cause",
    "failure",
)
_COUNTS = (
    "attempt",
    "fresh_input_tokens",
    "cache_write_1h_tokens",
    "output_tokens",
    "reasoning_tokens",
    "charged_micros",
)
_MAYBE_COUNTS = (
    "cache_read_tokens",
    "cache_write_tokens",
    "input_rate",
    "output_rate",
    "read_millionths",
    "write_millionths",
    "write_1h_millionths",
    "cost_micros",
    "http_status",
)
_FLAGS = ("is_charged", "is_subscription_served", "is_fast_tier")
_TIMES = ("opened_unix_s", "settled_unix_s")


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "ledger",
        sa.Column(
            "seq",
            sa.BigInteger().with_variant(sa.Integer, "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        *(sa.Column(name, sa.Text, nullable=False) for name in _TEXTS),
        *(sa.Column(name, sa.BigInteger, nullable=False) for name in _COUNTS),
        *(sa.Column(name, sa.BigInteger) for name in _MAYBE_COUNTS),
        *(sa.Column(name, sa.Boolean, nullable=False) for name in _FLAGS),
        *(sa.Column(name, sa.Float(53), nullable=False) for name in _TIMES),
        sa.UniqueConstraint("action_id", "attempt", "kind", name="ledger_attempt"),
        sqlite_autoincrement=True,
    )
    op.create_index("ledger_by_key", "ledger", ["key_id", "seq"])
    op.create_table(
        "key_spend",
        sa.Column("key_id", sa.String(36), primary_key=True),
        sa.Column("spent_micros", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Drop both tables."""
    op.drop_table("key_spend")
    op.drop_table("ledger")
