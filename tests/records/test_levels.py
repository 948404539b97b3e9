"""Histograms between bounds: both kernels alike, columns together or apart, edges of levels."""

import numpy as np
import pytest
from scipy import sparse

from sparsedp._kernels import COMPILED
from sparsedp._kernels.sums import levels_reference
from sparsedp.data.sums import histogram

KERNELS = {"reference": levels_reference}
if COMPILED:
    from sparsedp._kernels.sums import levels as compiled

    KERNELS["compiled"] = compiled

N_LEVELS = 6


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("form", ["dense", "fortran", "csr", "csc"])
def test_every_edge_is_counted_on_its_side(monkeypatch, name, form):
    monkeypatch.setattr(histogram, "kernel", KERNELS[name])
    lower, upper = np.array([0.0, -1.0, -3.0] * 100), np.array([1.0, 1.0, 5.0] * 100)
    edges = np.concatenate([2.0 ** -np.arange(1, 10), [0.0, 0.3, 0.4999]])
    edges = np.unique([edges, 1 - edges, 0.5 + edges / 2, 0.5 - edges / 2])
    fraction = np.unique([np.nextafter(edges, 0), edges, np.nextafter(edges, 1)])
    X = lower + fraction[:, None] * (upper - lower)
    X = np.clip(np.where(np.arange(len(X))[:, None] % 5 == 4, 0.0, X), lower, upper)
    stores = {"dense": np.array, "fortran": np.asfortranarray}
    storage = stores[form](X) if form in stores else sparse.csr_array(X).asformat(form)
    counts = histogram.dyadic_counts(storage, lower, upper, N_LEVELS)
    t = (X - lower) / (upper - lower)
    # Twice the distance from the end that is closer is exact; the farther end is on level 0.
    near = np.minimum(t, 1 - t)
    for side, far in enumerate((t > 0.5, t < 0.5)):
        for b in range(N_LEVELS):
            inside = (near > 2.0 ** -(b + 1)) & (near <= 2.0**-b)
            expected = np.where(far, b == 0, inside)
            np.testing.assert_array_equal(counts[:, side, b], expected.sum(axis=0))
    assert counts.sum(axis=2).max() <= len(X)
