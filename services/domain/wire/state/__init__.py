"""Opaque state of vendors on its way through clients of other dialects, and back to its issuer.

A vendor signs what its model thought and wants to see it again; clients of other dialects have no
member for it. It travels sealed in what they do keep: the signature of a thought, or the id of a
call. What a client loses all the same is found again in the session's ledger.
"""
