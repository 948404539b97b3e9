"""Everything that an object holds, as bytes: for comparing whole releases to the last bit."""

import pickle
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def whole(thing: Any) -> Any:
    """A nested tuple that is equal for two objects only if they agree in every bit.

    Arrays become their type, shape and bytes, floats their digits in base 16 (so that NaN equals
    itself and 0.0 is not -0.0), and objects all that they hold.
    """
    if isinstance(thing, np.ndarray):
        if thing.dtype == object:
            return "array", thing.shape, tuple(whole(item) for item in thing.ravel())
        return "array", str(thing.dtype), thing.shape, thing.tobytes()
    if isinstance(thing, float | np.floating):
        return type(thing).__name__, float(thing).hex()
    if isinstance(thing, dict):
        return "dict", tuple((whole(key), whole(value)) for key, value in thing.items())
    if isinstance(thing, list | tuple):
        return type(thing).__name__, tuple(whole(item) for item in thing)
    if is_dataclass(thing) and not isinstance(thing, type):
        held = tuple((field.name, whole(getattr(thing, field.name))) for field in fields(thing))
        return type(thing).__name__, held
    return type(thing).__name__, pickle.dumps(thing)


def whole_estimator(estimator: Any, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """All that a fitted estimator holds or says of itself, by name."""
    held = {name: whole(v) for name, v in vars(estimator).items() if name not in without}
    path = estimator.path_
    return held | {
        "path": whole((path.order, path.coefs, path.intercepts, path.bends, path.interactions)),
        "record": pickle.dumps(estimator.privacy_),
        "record as JSON": whole(estimator.privacy_.to_dict()),
        "statement": estimator.privacy_.statement(),
        "repr": repr(estimator),
    }
