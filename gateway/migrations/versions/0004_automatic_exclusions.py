"""Models that are not to be picked by themselves, as operators listed them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "automatic_exclusions",
        sa.Column("model", sa.String(128), primary_key=True),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
    )


def downgrade() -> None:
    """Drop the table."""
    op.drop_table("automatic_exclusions")
