"""Installations and their router keys."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create both tables."""
    op.create_table(
        "installations",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(128), nullable=False, unique=True),
        sa.Column("created_unix_s", sa.Float(53), nullable=False),
    )
    op.create_table(
        "router_keys",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column(
            "installation_id", sa.String(36), sa.ForeignKey("installations.id"), nullable=False
        ),
        sa.Column("name", sa.String(128), nullable=False),
        sa.Column("scope", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("display_prefix", sa.String(8), nullable=False),
        sa.Column("display_suffix", sa.String(4), nullable=False),
        sa.Column("created_unix_s", sa.Float(53), nullable=False),
        sa.Column("expires_unix_s", sa.Float(53)),
        sa.Column("revoked_unix_s", sa.Float(53)),
        sa.Column("successor_id", sa.String(36), nullable=False, server_default=""),
    )
    op.create_index(
        "router_keys_by_installation", "router_keys", ["installation_id", "created_unix_s"]
    )


def downgrade() -> None:
    """Drop both tables."""
    op.drop_table("router_keys")
    op.drop_table("installations")
