"""Compile the hot loops; without a compiler the package installs all the same and runs on NumPy."""

import os
import sys
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


def extension(source, *macros):
    """One kernel: its module is where its source is."""
    module = ".".join(source.relative_to("src").with_suffix("").parts)
    beside = [*source.parent.glob("*.h"), *source.parent.glob("k*.pyx")]
    return Extension(
        module,
        [source.as_posix()],
        include_dirs=[numpy.get_include(), KERNELS.as_posix()],
        depends=[path.as_posix() for path in sorted({*KERNELS.glob("*.h"), *beside})],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION"), *macros],
        # No fast-math: rounding near noise is part of the privacy argument. The last two change no
        # result: nobody reads floating-point traps or errno, and loops with them stay scalar.
        extra_compile_args=["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"],
    )


# With every invariant asserted: for tests, so only where the sources are, never in a wheel.
CHECKED = KERNELS / "walk" / "checked.pyx"
extensions = [extension(source) for source in sorted(KERNELS.rglob("*.pyx")) if source != CHECKED]
if CHECKED.exists() and {"--inplace", "-i", "editable_wheel", "develop"} & set(sys.argv):
    extensions.append(extension(CHECKED, ("SPARSEDP_CHECKED", "1"), ("SPARSEDP_PLAIN", "1")))
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
