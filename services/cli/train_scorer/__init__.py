"""Trains and judges scoring artifacts from outcome tables; needs only what serving needs."""
