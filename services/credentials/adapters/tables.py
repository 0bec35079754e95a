"""Tables of the credentials store."""

from __future__ import annotations

import sqlalchemy as sa

metadata = sa.MetaData()

credentials = sa.Table(
    "credentials",
    metadata,
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
    sa.Column("learned", sa.Text, nullable=False),
    sa.Column("change_revision", sa.BigInteger, nullable=False),
)

marks = sa.Table(
    "marks",
    metadata,
    sa.Column(
        "credential_id",
        sa.Text,
        sa.ForeignKey("credentials.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("quota_window", sa.Text, primary_key=True),
    sa.Column("model_id", sa.Text, primary_key=True),
    sa.Column("family", sa.Text, primary_key=True),
    sa.Column("feature", sa.Text, primary_key=True),
    sa.Column("expire_unix_s", sa.Double),
    sa.Column("observe_unix_s", sa.Double, nullable=False),
    sa.Column("level", sa.Integer, nullable=False),
    sa.Column("utilization_ratio", sa.Double),
    sa.Column("end_unix_s", sa.Double),
)

removals = sa.Table(
    "removals",
    metadata,
    sa.Column("credential_id", sa.Text, primary_key=True),
    sa.Column("revision", sa.BigInteger, nullable=False),
)

refreshes = sa.Table(
    "refreshes",
    metadata,
    sa.Column(
        "credential_id",
        sa.Text,
        sa.ForeignKey("credentials.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    sa.Column("fence", sa.BigInteger, nullable=False),
    sa.Column("expire_unix_s", sa.Double, nullable=False),
)

deployment_keys = sa.Table(
    "deployment_keys",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("key_id", sa.Text, nullable=False),
    sa.Column("ciphertext", sa.LargeBinary, nullable=False),
)

revision = sa.Table(
    "revision",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("value", sa.BigInteger, nullable=False),
)

audit = sa.Table(
    "audit",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("time_unix_s", sa.Double, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("action", sa.Text, nullable=False),
    sa.Column("credential_id", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
)
