"""Which model serves an action, decided from values alone. Pure but for its ports."""
