"""Random faults of providers, seeded: what a client may see of any schedule of them."""
