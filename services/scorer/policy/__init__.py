"""Decisions of the scorer, synchronous and pure."""
