"""Plumbing that every process of ours shares."""

from __future__ import annotations

import os

# gRPC's core writes to standard error past our log, and reads this when it loads; what goes wrong
# reaches us as exceptions.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
