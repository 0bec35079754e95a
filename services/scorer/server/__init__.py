"""The gRPC face of the scorer."""
