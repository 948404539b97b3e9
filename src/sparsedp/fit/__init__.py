"""One fit: plan, charge, solve, record.

The only place where records, curator and privacy record meet; fit.py and search/search.py have the
order. Knows nothing of scikit-learn.
"""

from sparsedp.fit.fit import private_fit
from sparsedp.fit.plan import Plan
from sparsedp.fit.problem import Problem
from sparsedp.fit.settings import Settings

__all__ = ["Plan", "Problem", "Settings", "private_fit"]
