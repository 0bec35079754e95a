"""Sessions: one document per thread and role."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "sessions",
        sa.Column("session_key", sa.String(32), primary_key=True),
        sa.Column("role", sa.String(64), primary_key=True),
        sa.Column("installation_id", sa.String(36), nullable=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("expires_unix_s", sa.Float(53), nullable=False),
        sa.Column("document", sa.LargeBinary, nullable=False),
    )
    op.create_index("sessions_by_expiry", "sessions", ["expires_unix_s"])


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("sessions")
