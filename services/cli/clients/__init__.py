"""Wires client programs to a router, in the files where they keep their own settings."""
