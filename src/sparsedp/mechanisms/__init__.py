"""The door, and behind it the only place that draws randomness."""

from sparsedp.mechanisms.curator import Curator, Objective
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.noiseless import NoiselessCurator
from sparsedp.mechanisms.noisy import NoisyCurator

__all__ = ["Curator", "KeyStream", "NoiselessCurator", "NoisyCurator", "Objective"]
