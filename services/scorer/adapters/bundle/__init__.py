"""Reads bundles of format 2 from a folder and refuses whatever is not as it should be."""
