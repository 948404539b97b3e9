"""A published model as a program: from the cells of a record to its predictions."""

import math
from collections.abc import Container
from dataclasses import dataclass

import numpy as np

from sparsedp.data.gate import missing_values
from sparsedp.data.gate.class_weight import class_shift
from sparsedp.data.schema import Schema
from sparsedp.data.schema.kinds.category import Levels
from sparsedp.release.export.cells import LARGEST, Steps, columns_of, spellings
from sparsedp.release.export.expression import (
    Cell,
    Choose,
    Compare,
    Condition,
    Constant,
    Every,
    Function,
    IsAmong,
    IsMissing,
    Label,
    Number,
    Product,
    Program,
    Quotient,
    Step,
    Sum,
    clipped,
    minus,
    total,
)
from sparsedp.release.feature import Feature, label_text
from sparsedp.release.model import PublishedModel
from sparsedp.release.pair import Pair

FARTHEST = 700.0
"""Margins that exponentials are taken of: beyond, engines raise, and probabilities are 0 or 1."""


def program_of(model: PublishedModel) -> Program:
    """Write down what a model does to a record.

    Privacy
    -------
    A function of the published model.
    """
    steps = Steps(model.invalid)
    values = _features(model, steps)
    joined, margins = _products(model, values, steps), []
    for output in range(len(model.intercept)):
        effects = [_effect(f, values[f.index], output) for f in model.features]
        effects += [Product(Constant(pair.weights[output]), step) for pair, step in joined]
        terms: list[Number] = [Constant(model.intercept[output]), *map(steps.add, effects)]
        margins.append(steps.add(_sum(terms, steps)))
    offset = _offset(model, steps)
    if offset is not None:
        margins = [steps.add(Sum((margin, offset))) for margin in margins]
    if model.classes is None:
        return _number_program(model, margins[0], steps)
    return _class_program(model, margins, steps)


@dataclass(frozen=True)
class Design:
    """A program up to the columns that margins are linear in.

    Parameters
    ----------
    program : Program
        Its outputs are the columns: clipped features, bends of each output, products of pairs that
        interact, the offset.
    coef : list of list of float
        For each output, that of each column.
    bends : dict
        Of steps that are piecewise linear: the step that they are functions of, knots and heights.
    """

    program: Program
    coef: list[list[float]]
    bends: dict[str, tuple[str, tuple[float, ...], tuple[float, ...]]]


def design_of(model: PublishedModel) -> Design:
    """Write down what comes before the linear part of a model.

    Privacy
    -------
    A function of the published model.
    """
    steps, n_outputs = Steps(model.invalid), len(model.intercept)
    values = _features(model, steps)
    columns, bends = {f.label: (values[f.index], f.coef) for f in model.features}, {}
    for feature in model.features:
        for output, name in enumerate(model.outputs if feature.knots else ()):
            bend = steps.add(_bend(feature, values[feature.index], output))
            bends[bend.name] = values[feature.index].name, feature.knots, feature.bends[output]
            only = tuple(float(other == output) for other in range(n_outputs))
            columns[_unlike(f"bend of {feature.label} for {name}", columns)] = bend, only
    labels = {feature.index: feature.label for feature in model.features}
    for pair, step in _products(model, values, steps):
        first, second = (labels[index] for index in pair.features)
        columns[_unlike(f"{first} x {second}", columns)] = step, pair.weights
    offset = _offset(model, steps)
    if offset is not None:
        columns[_unlike("offset", columns)] = offset, (1.0,) * n_outputs
    if not columns:  # scikit-learn refuses a table without columns
        columns["nothing"] = steps.add(Constant(0.0)), (0.0,) * n_outputs
    names = {label: step.name for label, (step, _) in columns.items()}
    coef = [[each[output] for _, each in columns.values()] for output in range(n_outputs)]
    return Design(Program(steps.found, tuple(steps.checks), names), coef, bends)


def _unlike(name: str, others: Container[str]) -> str:
    """A name that no other column has: features and classes may be called anything."""
    while name in others:
        name += "'"
    return name


def _sum(terms: list[Number], steps: Steps) -> Number:
    """A sum in pieces: engines limit how deep an expression may be."""
    while len(terms) > 64:
        terms = [steps.add(total(terms[i : i + 64])) for i in range(0, len(terms), 64)]
    return total(terms)


def _features(model: PublishedModel, steps: Steps) -> dict[int, Step]:
    """The used features, clipped as predictions clip them."""
    if model.schema is None:
        found = _plain_features(model, steps)
    else:
        found = _schema_features(model.schema, [f.index for f in model.features], steps)
    return {f.index: steps.add(clipped(found[f.index], f.lower, f.upper)) for f in model.features}


def _schema_features(schema: Schema, wanted: list[int], steps: Steps) -> dict[int, Step]:
    products = {
        product.first + k: pair
        for product in schema.products
        for k, pair in enumerate(
            (left, right)
            for left in range(product.left.start, product.left.stop)
            for right in range(product.right.start, product.right.stop)
        )
    }
    needed = {*wanted, *(j for slot in wanted if slot in products for j in products[slot])}
    found: dict[int, Step] = {}
    for part in schema.parts:
        own = [j for j in sorted(needed) if part.first <= j < part.first + part.width]
        if own:
            found |= columns_of(part, own, steps)
    lowest, highest = (np.asarray(limit) for limit in (schema.bounds.lower, schema.bounds.upper))

    def unit(j: int) -> Number:
        lower, upper = float(lowest[j]), float(highest[j])
        return Quotient(minus(found[j], lower), Constant(upper - lower))

    for slot in wanted:
        if slot in products:
            left, right = products[slot]
            found[slot] = steps.add(Product(unit(left), unit(right)))
    return found


def _plain_features(model: PublishedModel, steps: Steps) -> dict[int, Step]:
    """Of a model without a schema: numbers, and text columns with declared values."""
    made = {
        f"{column}={value}": (column, value)
        for column, values in model.categories.items()
        for value in values
    }
    row_norm = model.privacy["bounds"].get("row_norm")
    missing = missing_values(*model.declared(), row_norm)
    found = {}
    for position, feature in enumerate(model.features):
        if feature.label in made:
            column, value = made[feature.label]
            written = spellings(Levels((value,)))[0]
            text = Cell(column, "text")
            same = Choose(((IsAmong(text, written), Constant(1.0)),), Constant(0.0))
            found[feature.index] = steps.add(Choose(((IsMissing(text), Constant(0.0)),), same))
            continue
        cell = Cell(feature.label, "number")
        if model.invalid == "raise":
            limits: list[Condition] = [
                Compare(cell, "<=", Constant(LARGEST)),
                Compare(cell, ">=", Constant(-LARGEST)),
            ]
            step = steps.fits(cell, [Every(tuple(limits))], feature.label, "finite number")
            steps.needs(step, feature.label)
            found[feature.index] = step
        else:
            filled = Constant(float(missing[position]))
            found[feature.index] = steps.add(Choose(((IsMissing(cell), filled),), cell))
    return found


def _effect(feature: Feature, value: Step, output: int) -> Number:
    """What a feature adds to a margin."""
    line = Product(Constant(feature.coef[output]), value)
    return Sum((line, _bend(feature, value, output))) if feature.knots else line


def _bend(feature: Feature, value: Step, output: int) -> Number:
    """What an effect adds to its line."""
    knots, heights = feature.knots, feature.bends[output]
    pieces: list[tuple[Condition, Number]] = []
    for k in range(len(knots) - 1):
        part = Quotient(minus(value, knots[k]), Constant(knots[k + 1] - knots[k]))
        rest = Sum((Constant(1.0), Product(Constant(-1.0), part)))
        piece = Sum((Product(Constant(heights[k]), rest), Product(Constant(heights[k + 1]), part)))
        pieces.append((Compare(value, "<", Constant(knots[k + 1])), piece))
    return Choose(tuple(pieces[:-1]), pieces[-1][1]) if len(pieces) > 1 else pieces[0][1]


def _products(
    model: PublishedModel, values: dict[int, Step], steps: Steps
) -> list[tuple[Pair, Step]]:
    """Of features that interact, from -1 at their lower to 1 at their upper limits."""
    joined = {index for pair in model.interactions for index in pair.features}
    units: dict[int, Step] = {}
    for f in model.features:
        if f.index in joined:
            part = Quotient(minus(values[f.index], f.lower), Constant(f.upper - f.lower))
            units[f.index] = steps.add(Sum((Product(Constant(2.0), part), Constant(-1.0))))
    found = []
    for pair in model.interactions:
        first, second = (units[index] for index in pair.features)
        found.append((pair, steps.add(Product(first, second))))
    return found


def _offset(model: PublishedModel, steps: Steps) -> Step | None:
    """What is known of each margin, if the schema names its column."""
    limits = model.privacy["model"].get("offset_bounds")
    if limits is None or model.schema is None or model.schema.offset is None:
        return None
    column = model.schema.offset.column
    cell = Cell(column, "number")
    low, high = map(float, limits)
    if model.invalid == "raise":
        finite = (Compare(cell, "<=", Constant(LARGEST)), Compare(cell, ">=", Constant(-LARGEST)))
        step = steps.fits(cell, [Every(finite)], column, "finite number")
        steps.needs(step, column)
    else:
        step = steps.add(Choose(((IsMissing(cell), Constant(0.0)),), cell))
    return steps.add(clipped(step, low, high))


def _number_program(model: PublishedModel, margin: Step, steps: Steps) -> Program:
    upper = float(model.target["upper"])
    if model.task == "count":
        low, high = -FARTHEST, min(math.log(upper), FARTHEST)
        result = steps.add(Function("exp", steps.add(clipped(margin, low, high))))
    else:
        result = steps.add(clipped(margin, float(model.target["lower"]), upper))
    return Program(steps.found, tuple(steps.checks), {"prediction": result.name})


def _class_program(model: PublishedModel, margins: list[Step], steps: Steps) -> Program:
    classes = model.classes or ()
    if len(margins) == 1:
        near = steps.add(clipped(margins[0], -FARTHEST, FARTHEST))
        shares = [
            steps.add(
                Quotient(
                    Constant(1.0),
                    Sum((Constant(1.0), Function("exp", Product(Constant(sign), near)))),
                )
            )
            for sign in (1.0, -1.0)
        ]
        scores = [steps.add(Constant(0.0)), margins[0]]
    else:
        largest = margins[0]
        for other in margins[1:]:
            largest = steps.add(Choose(((Compare(other, ">", largest), other),), largest))
        powers = [
            steps.add(Function("exp", steps.add(_not_below(margin, largest, steps))))
            for margin in margins
        ]
        whole = steps.add(_sum(list(powers), steps))
        shares = [steps.add(Quotient(power, whole)) for power in powers]
        scores = margins
    weights = model.target.get("class_weight")
    if weights is not None:
        shift = class_shift(weights).tolist()
        shift = [0.0, *shift] if len(shift) < len(scores) else shift
        scores = [steps.add(Sum((s, Constant(t)))) for s, t in zip(scores, shift, strict=True)]
    labels = tuple(item.item() if isinstance(item, np.generic) else item for item in classes)
    names: dict[str, str] = {}
    for item, share in zip(classes, shares, strict=True):  # 1 and "1" may be two classes
        names[_unlike(f"probability of {label_text(item)}", names)] = share.name
    label = Label(labels, tuple(score.name for score in scores))
    return Program(steps.found, tuple(steps.checks), names, label)


def _not_below(margin: Step, largest: Step, steps: Steps) -> Number:
    """A margin less the largest, not so small that its exponential raises."""
    less = steps.add(Sum((margin, Product(Constant(-1.0), largest))))
    limit = Constant(-FARTHEST)
    return Choose(((Compare(less, "<", limit), limit),), less)
