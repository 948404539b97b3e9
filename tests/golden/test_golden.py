"""The same seed gives the same model as when the file was written."""

import json

import numpy as np
import pytest

from tests.golden.models import FILE, cases, fitted

STORED = json.loads(FILE.read_text())


@pytest.mark.parametrize("case", cases())
def test_same_seed_same_model(case: str) -> None:
    now, before = fitted(case), STORED[case]
    assert now.keys() == before.keys()
    for name in before:
        # Machines differ in the last bits of products; another draw differs in the first digits.
        np.testing.assert_allclose(np.asarray(now[name]), before[name], rtol=1e-7, atol=1e-9)
