"""The door, and behind it the only place that draws randomness.

curator.py charges and counts, and leaves answers to noisy.py, noiseless.py, scripted.py or
recording.py. What can be asked is in questions/, one file per kind with all its answers, noisy and
exact; so a new kind of question is one file there and one in privacy/events/.
"""

from sparsedp.mechanisms.curator import Answers, Curator
from sparsedp.mechanisms.entropy import KeyStream
from sparsedp.mechanisms.noiseless import NoiselessCurator
from sparsedp.mechanisms.noisy import NoisyCurator
from sparsedp.mechanisms.questions.minimum import Objective
from sparsedp.mechanisms.walk.protocol import CompactWalk, Walk, one_by_one

__all__ = [
    "Answers",
    "CompactWalk",
    "Curator",
    "KeyStream",
    "NoiselessCurator",
    "NoisyCurator",
    "Objective",
    "Walk",
    "one_by_one",
]
