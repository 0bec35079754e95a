"""RouterService on the gateway's own gRPC port."""
