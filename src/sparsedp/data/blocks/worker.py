"""What runs on the workers of a cluster."""

import contextlib
import os
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache

import distributed
import numpy as np

from sparsedp.data.blocks.local import blas_controller
from sparsedp.data.raw import Module
from sparsedp.data.storage import compressed, is_sparse


def alone_in_its_folder(dask_worker: Module) -> None:
    """What a worker spills to disk is for its own eyes; by itself Dask lets everybody read it."""
    with contextlib.suppress(OSError):  # where folders have no modes
        os.chmod(dask_worker.local_directory, 0o700)


@lru_cache(maxsize=1)
def _settled() -> None:
    """Done once by each worker, also by those that joined later."""
    # One thread for linear algebra from now on: see `blas_controller`.
    blas_controller().limit(limits=1, user_api="blas")
    alone_in_its_folder(distributed.get_worker())


def itself(value: object) -> object:
    """The value, by a task that can be repeated."""
    return value


def evaluated(function: Callable[..., object], *values: object) -> object:
    """Run on a worker."""
    _settled()
    return function(*map(_aligned, values))


def _aligned(value: object) -> object:
    """The same value, its arrays where NumPy's fast loops take them.

    Arrays that came from another worker may begin at any byte; NumPy then adds in another order.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy("K")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_aligned, value))
    if is_sparse(value):
        parts = (value.data, value.indices, value.indptr)
        if all(part.flags.aligned for part in parts):
            return value
        kind = value.format == "csc"
        values, indices, indptr = (part if part.flags.aligned else part.copy() for part in parts)
        return compressed((values, indices, indptr), value.shape, by_columns=kind)
    if is_dataclass(value) and not isinstance(value, type):
        old = {field.name: getattr(value, field.name) for field in fields(value)}
        new = {name: _aligned(part) for name, part in old.items()}
        return replace(value, **new) if any(new[name] is not old[name] for name in old) else value
    return value
