"""Warnings that point to the line of users' code that led here."""

import os
import sys
import warnings
from types import FrameType

import sparsedp
from sparsedp._kernels import ASKED_FOR_REFERENCE, COMPILED

HOME = os.path.dirname(os.path.abspath(sparsedp.__file__)) + os.sep


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside of this library, however many calls are between."""
    frame: FrameType | None = sys._getframe(1)
    level = 2
    while frame is not None and frame.f_code.co_filename.startswith(HOME):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def warn_if_slow() -> None:
    """Say, once from a line of code, that nothing was compiled when this was installed."""
    if not COMPILED and not ASKED_FOR_REFERENCE:
        warn_caller(
            "fits are slow here: sparsedp was installed without a C compiler. The models are as "
            "private; a wheel, or an install where there is a compiler, is many times faster",
            RuntimeWarning,
        )
