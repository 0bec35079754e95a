"""Plays quota headers against the credentials service's rules."""
