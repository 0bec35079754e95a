"""Credentials with sealed secrets, their marks, the deployment's own keys, revision and audit."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the first tables."""
    op.create_table(
        "credentials",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("installation_id", sa.Text, nullable=False),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("system_state", sa.Text, nullable=False),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("ciphertext", sa.LargeBinary),
        sa.Column("spec_digest", sa.Text, nullable=False),
        sa.Column("secret_digest", sa.Text, nullable=False),
        sa.Column("idempotency_key", sa.Text, unique=True),
        sa.Column("credential_version", sa.BigInteger, nullable=False),
        sa.Column("state_version", sa.BigInteger, nullable=False),
        sa.Column("create_unix_s", sa.Double, nullable=False),
        sa.Column("update_unix_s", sa.Double, nullable=False),
        sa.Column("schema_version", sa.Integer, nullable=False),
    )
    op.create_table(
        "marks",
        sa.Column(
            "credential_id",
            sa.Text,
            sa.ForeignKey("credentials.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("quota_window", sa.Text, primary_key=True),
        sa.Column("model_id", sa.Text, primary_key=True),
        sa.Column("feature", sa.Text, primary_key=True),
        sa.Column("expire_unix_s", sa.Double),
        sa.Column("observe_unix_s", sa.Double, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("utilization_ratio", sa.Double),
    )
    op.create_table(
        "deployment_keys",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("key_id", sa.Text, nullable=False),
        sa.Column("ciphertext", sa.LargeBinary, nullable=False),
    )
    counter = op.create_table(
        "revision",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(counter, [{"id": 1, "value": 0}])
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("time_unix_s", sa.Double, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("credential_id", sa.Text, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
    )
