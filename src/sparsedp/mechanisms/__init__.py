"""The door, and behind it the only place that draws randomness."""

from sparsedp.mechanisms.curator import Curator, NoiselessCurator, NoisyCurator, Objective
from sparsedp.mechanisms.entropy import KeyStream

__all__ = ["Curator", "KeyStream", "NoiselessCurator", "NoisyCurator", "Objective"]
