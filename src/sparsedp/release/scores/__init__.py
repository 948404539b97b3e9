"""Private scores that a model file carries: its table, what follows from it, and pictures.

A file holds the released table alone. Scores are computed anew from it whenever somebody looks, so
that no file can state better ones.
"""

from sparsedp.release.scores.held_out import HeldOut, checked_table, held_out
from sparsedp.release.scores.pictures import Picture, pictures_of

__all__ = ["HeldOut", "Picture", "checked_table", "held_out", "pictures_of"]
