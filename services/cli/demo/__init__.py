"""Plays sample sessions through a router and shows what was routed and what that saved."""
