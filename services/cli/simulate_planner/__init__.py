"""Plays the planner's rules through seeded sessions, beside what no planner could beat.

``world`` makes the sessions, ``history`` shortens them, ``prices`` bills an action, ``contestants``
choose models, ``play`` keeps the accounts, ``clairvoyant`` is the bound, ``campaign`` runs them and
``report`` holds the figures against the goals. Simulated figures rank rules and show which inputs
matter; they predict nobody's bill.
"""
