"""Losses, one file each: value, residual, curvature and their bounds for one record, with proofs.

A new loss is a file here and a line in `BY_NAME`; ``loss.py`` says what it has to promise.
"""

from collections.abc import Callable, Mapping

from sparsedp.losses.huber import Huber
from sparsedp.losses.log_cosh import LogCosh
from sparsedp.losses.logistic import Logistic
from sparsedp.losses.loss import (
    Coded,
    CompiledWalk,
    Inferable,
    Lipschitz,
    Loss,
    Perturbable,
    ScalingBound,
    StronglyConvex,
)
from sparsedp.losses.multinomial import Multinomial
from sparsedp.losses.poisson import Poisson
from sparsedp.losses.squared import Squared

__all__ = [
    "BY_NAME",
    "Coded",
    "CompiledWalk",
    "Huber",
    "Inferable",
    "Lipschitz",
    "LogCosh",
    "Logistic",
    "Loss",
    "Multinomial",
    "Perturbable",
    "Poisson",
    "ScalingBound",
    "Squared",
    "StronglyConvex",
    "from_record",
]

BY_NAME: dict[str, Callable[..., Loss]] = {
    "Logistic": Logistic,
    "Multinomial": Multinomial,
    "Squared": Squared,
    "Huber": Huber,
    "Poisson": Poisson,
}
"""Losses that a model can be fitted with, by the name that a record gives them."""


def from_record(described: Mapping[str, object]) -> Loss:
    """The loss that a record names, with its settings; ValueError if there is none such."""
    kind = BY_NAME.get(str(described.get("name")))
    if kind is None:
        raise ValueError(f"unknown loss {described.get('name')!r:.40}")
    try:
        return kind(**{key: value for key, value in described.items() if key != "name"})
    except TypeError:
        raise ValueError(f"{described['name']} does not have these settings") from None
