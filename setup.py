"""Compile the hot loops; without a compiler the package installs all the same and runs on NumPy."""

from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = Path("src/sparsedp/_kernels")

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"sparsedp._kernels.{source.stem}",
                [source.as_posix()],
                include_dirs=[numpy.get_include()],
                define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
                # No fast-math: rounding near noise is part of the privacy argument.
                extra_compile_args=["-O3", "-ffp-contract=off"],
                optional=True,
            )
            for source in sorted(KERNELS.glob("*.pyx"))
        ],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
)
