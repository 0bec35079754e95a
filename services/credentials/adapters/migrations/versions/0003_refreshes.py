"""Who may refresh the tokens of which credential, and until when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table of leases."""
    op.create_table(
        "refreshes",
        sa.Column(
            "credential_id",
            sa.Text,
            sa.ForeignKey("credentials.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("expire_unix_s", sa.Double, nullable=False),
    )
