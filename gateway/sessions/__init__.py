"""What is remembered of a session: values, pure transitions, and the memory in front of a store."""
