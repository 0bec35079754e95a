"""Marks of families that are kept after their end, what was learned, and who changed when."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_KEPT = (
    "credential_id, kind, quota_window, model_id, feature, expire_unix_s, observe_unix_s, level,"
    " utilization_ratio"
)


def upgrade() -> None:
    """Make the marks' table anew, since its key grows, and note every change's revision."""
    op.create_table(
        "marks_by_family",
        sa.Column(
            "credential_id",
            sa.Text,
            sa.ForeignKey("credentials.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("quota_window", sa.Text, primary_key=True),
        sa.Column("model_id", sa.Text, primary_key=True),
        sa.Column("family", sa.Text, primary_key=True, server_default=""),
        sa.Column("feature", sa.Text, primary_key=True),
        sa.Column("expire_unix_s", sa.Double),
        sa.Column("observe_unix_s", sa.Double, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("utilization_ratio", sa.Double),
        sa.Column("end_unix_s", sa.Double),
    )
    op.execute(f"INSERT INTO marks_by_family ({_KEPT}) SELECT {_KEPT} FROM marks")  # noqa: S608 - names of ours
    op.drop_table("marks")
    op.rename_table("marks_by_family", "marks")
    op.add_column("credentials", sa.Column("learned", sa.Text, nullable=False, server_default="{}"))
    op.add_column(
        "credentials",
        sa.Column("change_revision", sa.BigInteger, nullable=False, server_default="0"),
    )
    op.create_table(
        "removals",
        sa.Column("credential_id", sa.Text, primary_key=True),
        sa.Column("revision", sa.BigInteger, nullable=False),
    )
