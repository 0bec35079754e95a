"""The decisions of the credentials service: synchronous and pure."""
