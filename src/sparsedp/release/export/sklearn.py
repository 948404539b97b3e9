"""A model as Python code that builds a plain scikit-learn pipeline.

Raw columns become numbers by the function that python.py writes, in a FunctionTransformer; a linear
model of scikit-learn with these coefficients follows. Where its ``predict`` is not ours (limits of
the target, weights of classes), the code has a subclass of a few lines.
"""

import math
from collections.abc import Sequence

import numpy as np

from sparsedp.data.gate.class_weight import class_shift
from sparsedp.release.export import python
from sparsedp.release.export.program import design_of
from sparsedp.release.model import PublishedModel

IMPORTS = """\
import numpy as np
from sklearn.linear_model import @base@
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
"""

COLUMNS = '''

def _cells(X, name):
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] != WIDTH:
            raise ValueError("give the columns of the fit: as a data frame if they have names")
        column = X[:, POSITIONS[name]]
    else:
        column = X[name]
    cells = np.asarray(column, dtype=object).tolist()
    return [None if type(cell).__name__ == "NAType" else cell for cell in cells]


def columns(X):
    """The numbers that the linear model takes, from a data frame of raw columns."""
    cells = {name: _cells(X, name) for name in RAW}
    records = (dict(zip(RAW, row)) for row in zip(*cells.values()))
    if not RAW:
        records = ({} for _ in range(X.shape[0]))
    return np.array([_record(record) for record in records]).reshape(-1, len(FEATURES))
'''

BOUNDED = '''
class Model(LinearRegression):
    """With predictions within the declared limits of the target."""

    def predict(self, X):
        return np.clip(super().predict(X), *@limits@)
'''

COUNTS = '''
class Model(PoissonRegressor):
    """With counts up to the declared limit."""

    def predict(self, X):
        return np.exp(np.minimum(X @ self.coef_ + self.intercept_, @limits@))
'''

WEIGHTED = '''
class Model(LogisticRegression):
    """With probabilities times the weights of classes, where a class is chosen."""

    def predict(self, X):
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return self.classes_[np.argmax(scores + np.array(@limits@), axis=1)]
'''

BUILD = '''
def build():
    """A pipeline that is fitted: predict(X), and predict_proba(X) of classes."""
    model = Model()
    model.coef_ = np.array(COEF)
    model.intercept_ = np.array(INTERCEPT)
    model.n_features_in_ = len(FEATURES)
    return Pipeline([("columns", FunctionTransformer(columns)), ("model", model)])
'''


def write(model: PublishedModel, title: Sequence[str]) -> str:
    """The text of a module with one function, ``build``."""
    design = design_of(model)
    program = design.program
    raw = tuple(dict.fromkeys(cell.column for cell in program.cells))
    places = {f.label: f.index for f in model.features if f.name is None}
    base, own = _model(model)
    single = len(model.intercept) == 1 and model.classes is None
    coef, intercept = (
        (design.coef[0], model.intercept[0]) if single else (design.coef, model.intercept)
    )
    build = BUILD if own else BUILD.replace("Model()", f"{base}()")
    if model.classes is not None:
        labels = f"    model.classes_ = {_labels(model)}\n"
        build = build.replace("    model.n_features_in_", labels + "    model.n_features_in_")
    constants = {
        "RAW": raw,
        "WIDTH": model.n_features if places else None,
        "POSITIONS": places,
        "FEATURES": tuple(program.outputs),
        "COEF": coef,
        "INTERCEPT": intercept,
    }
    readers, imports = python.readers(), IMPORTS.replace("@base@", base)
    head, rest = readers.split("\n\n", 1)  # the standard library comes first
    parts = [
        "\n".join(f"# {line}" for line in title) + "\n",
        f"{head}\n\n{imports}\n{rest}",
        "\n".join(["", *(f"{name} = {value!r}" for name, value in constants.items()), ""]),
        "\ndef _record(record):\n" + "\n".join(python.steps(program)),
        f"    return ({', '.join(program.outputs.values())},)\n",
    ]
    return "\n".join(parts) + "\n".join([COLUMNS, *([own] if own else []), build])


def _model(model: PublishedModel) -> tuple[str, str]:
    """The class of scikit-learn, and a subclass where its ``predict`` is not ours."""
    if model.task == "count":
        limit = math.log(model.target["upper"])
        return "PoissonRegressor", COUNTS.replace("@limits@", repr(limit))
    if model.classes is None:
        limits = (float(model.target["lower"]), float(model.target["upper"]))
        return "LinearRegression", BOUNDED.replace("@limits@", repr(limits))
    weights = model.target.get("class_weight")
    if weights is None:
        return "LogisticRegression", ""
    shift = class_shift(weights).tolist()
    shift = [0.0, *shift] if len(shift) < len(model.classes) else shift
    return "LogisticRegression", WEIGHTED.replace("@limits@", repr(shift))


def _labels(model: PublishedModel) -> str:
    classes = [
        label.item() if isinstance(label, np.generic) else label for label in model.classes or ()
    ]
    kinds = {type(label) for label in classes}
    return f"np.array({classes!r}{'' if len(kinds) == 1 else ', dtype=object'})"
