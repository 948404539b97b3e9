"""The door, and behind it the only place that draws randomness."""

from sparsedp.mechanisms.curator import Curator, Objective
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.noiseless import NoiselessCurator
from sparsedp.mechanisms.noisy import NoisyCurator
from sparsedp.mechanisms.walk.protocol import CompactWalk, Walk, one_by_one

__all__ = [
    "CompactWalk",
    "Curator",
    "KeyStream",
    "NoiselessCurator",
    "NoisyCurator",
    "Objective",
    "Walk",
    "one_by_one",
]
