"""Decisions without consequences: decided as on live traffic, explained, and forgotten."""
