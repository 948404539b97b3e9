"""What quality to expect before a record is touched.

planner.py has the order: facts, law, records needed, scores, price. The law (law.py, law.json) was
fitted to thousands of fits of public tables (planning.md); public.py runs the solver itself on a
public sample.
"""

from sparsedp.planning.facts import NotMeasured
from sparsedp.planning.planner import plan
from sparsedp.planning.public import PublicSample
from sparsedp.planning.result import QualityPlan

__all__ = ["NotMeasured", "PublicSample", "QualityPlan", "plan"]
