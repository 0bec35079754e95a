"""Messages and values, both ways: the gateway's questions, and ours to dispatch."""
