"""Compile the hot loops; without a compiler the package installs all the same and runs on NumPy."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

KERNELS = Path("src/sparsedp/_kernels")
SHARED = "sparsedp._kernels.views"  # what Cython would otherwise put into every kernel
# No fast-math: rounding near noise is part of the privacy argument. Nobody reads floating-point
# traps or errno, and loops with them stay scalar.
FLAGS = ["-O3", "-ffp-contract=off", "-fno-trapping-math", "-fno-math-errno"]
FLAGS_MSVC = ["/O2", "/std:c11", "/fp:precise"]
REQUIRED = os.environ.get("SPARSEDP_KERNELS") == "required"  # for wheels to give away
SMALL = ["-Os"]  # of what is no loop
# What only debuggers read would be four fifths of a wheel; who asks for it by CFLAGS gets it.
DEBUGGED = "-g" in os.environ.get("CFLAGS", "").split()
BARE = [] if DEBUGGED else ["-g0", "-fno-asynchronous-unwind-tables"]


class BuildIfPossible(build_ext):
    """Go on without a kernel that does not compile: its NumPy reference takes over."""

    def finalize_options(self):
        """Compile as many kernels at a time as there are cores, unless told otherwise."""
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def build_extension(self, ext):
        """Compile one kernel."""
        ext.optional = not REQUIRED  # or copying it into place would insist on it
        if self.compiler.compiler_type == "msvc":
            ext.extra_compile_args = FLAGS_MSVC
        else:
            ext.extra_compile_args = [*(SMALL if ext.name == SHARED else FLAGS), *BARE]
            ext.extra_link_args = ["-Wl,-s"] if BARE and sys.platform == "linux" else []
        try:
            super().build_extension(ext)
        except Exception as error:
            if REQUIRED:
                raise
            self.warn(f"{ext.name} was not compiled, its NumPy reference is used: {error}")


def extension(source, *macros):
    """One kernel: its module is where its source is."""
    module = ".".join(source.relative_to("src").with_suffix("").parts)
    beside = [*source.parent.glob("*.h"), *source.parent.glob("k*.pyx")]
    return Extension(
        module,
        [source.as_posix()],
        include_dirs=[KERNELS.as_posix()],
        depends=[path.as_posix() for path in sorted({*KERNELS.glob("*.h"), *beside})],
        define_macros=list(macros),
    )


def compiled():
    """All kernels, and what they share, as C."""
    from Cython.Build import cythonize

    # With every invariant asserted: for tests, so only where the sources are, never in a wheel.
    checked = KERNELS / "walk" / "checked.pyx"
    sources = [source for source in sorted(KERNELS.rglob("*.pyx")) if source != checked]
    extensions = [Extension(SHARED, [(KERNELS / "views.c").as_posix()]), *map(extension, sources)]
    if checked.exists() and {"--inplace", "-i", "editable_wheel", "develop"} & set(sys.argv):
        extensions.append(extension(checked, ("SPARSEDP_CHECKED", "1"), ("SPARSEDP_PLAIN", "1")))
    directives = {
        "language_level": 3,
        "binding": False,  # plain built-in functions: smaller, and faster to call
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
    }
    return cythonize(
        extensions, compiler_directives=directives, shared_utility_qualified_name=SHARED
    )


# What is only asked for names and files needs no kernel.
ASKED_ONLY = {"sdist", "egg_info", "dist_info", "build_py"} & set(sys.argv)
setup(ext_modules=[] if ASKED_ONLY else compiled(), cmdclass={"build_ext": BuildIfPossible})
