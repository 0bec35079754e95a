"""Frozen values of dispatch: what is asked, what may authenticate, what came of an attempt."""
