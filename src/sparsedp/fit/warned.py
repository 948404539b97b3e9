"""Warnings that point to the line of users' code that led here."""

import os
import sys
import warnings
from types import FrameType

import sparsedp

HOME = os.path.dirname(os.path.abspath(sparsedp.__file__)) + os.sep


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside of this library, however many calls are between."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(HOME):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
