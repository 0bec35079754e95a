"""The decision and its rules, pure: no clock, store, network or randomness.

``decision`` tests the rows in order; ``value``, ``corrected`` and ``legacy`` hold one economics
each, ``shadow`` the model that is only recorded.
"""
