"""Attacks on our own methods: lower bounds on what they really leak.

``audit`` refutes a claimed guarantee or fails to; ``replay`` checks the contract of the door,
without statistics.
"""

from sparsedp.audit.attack import Attack, Evidence
from sparsedp.audit.neighbors import Pair, worst_pairs
from sparsedp.audit.verdict import AuditResult, Refused, audit, enumerated

__all__ = [
    "Attack",
    "AuditResult",
    "Evidence",
    "Pair",
    "Refused",
    "audit",
    "enumerated",
    "worst_pairs",
]
