"""Compile the hot loops; without a compiler the package installs all the same and runs on NumPy."""

import os
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/sparsedp/_kernels")


class BuildIfPossible(build_ext):
    """Go on without a kernel that does not compile: its NumPy reference takes over."""

    def finalize_options(self):
        """Compile as many kernels at a time as there are cores, unless told otherwise."""
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def build_extension(self, ext):
        """Compile one kernel."""
        ext.optional = True  # or copying it into place would insist on it
        try:
            super().build_extension(ext)
        except Exception as error:
            self.warn(f"{ext.name} was not compiled, its NumPy reference is used: {error}")


extensions = [
    Extension(
        f"sparsedp._kernels.{source.stem}",
        [source.as_posix()],
        include_dirs=[numpy.get_include(), KERNELS.as_posix()],
        depends=[header.as_posix() for header in sorted(KERNELS.glob("*.h"))],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        # No fast-math: rounding near noise is part of the privacy argument. The last two change no
        # result: nobody reads floating-point traps or errno, and loops with them stay scalar.
        extra_compile_args=["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"],
    )
    for source in sorted(KERNELS.glob("*.pyx"))
]
directives = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}
setup(
    ext_modules=cythonize(extensions, compiler_directives=directives),
    cmdclass={"build_ext": BuildIfPossible},
)
