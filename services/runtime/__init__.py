"""Plumbing that every process of ours shares."""

from __future__ import annotations

import os

# gRPC's core writes to standard error past our log, and reads this when it loads; what goes wrong
# reaches us as exceptions.
os.environ.setdefault("GRPC_VERBOSITY", "NONE")
# None of our processes forks to go on as two, and gRPC's own handlers may end a child that is about
# to become another program: they poll what was closed for it.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
