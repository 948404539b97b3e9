"""A model as PMML 4.4: derived fields make the columns, a RegressionModel is linear in them.

A record that would raise elsewhere has no predictions. Dates come as days since 1970-01-01.
"""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

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
    Missing,
    Number,
    Product,
    Quotient,
    Step,
    Sum,
)
from sparsedp.release.export.program import Design, design_of
from sparsedp.release.feature import label_text
from sparsedp.release.model import PublishedModel

OWN = "sparsedp:"
"""Begins names of derived fields, so that no column has one of them."""

TARGET, RAW, SHIFT = f"{OWN}target", f"{OWN}raw", f"{OWN}shift"
FUNCTIONS = {"log": "ln"}
COMPARISONS = {
    "<": "lessThan",
    "<=": "lessOrEqual",
    ">": "greaterThan",
    ">=": "greaterOrEqual",
    "=": "equal",
    "<>": "notEqual",
}
METHODS = {"binary": "logit", "multinomial": "softmax", "linear": "none", "count": "exp"}
UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(model: PublishedModel, title: Sequence[str]) -> str:
    """The text of a PMML file."""
    design = design_of(model)
    root = Element("PMML", xmlns="http://www.dmg.org/PMML-4_4", version="4.4")
    header = SubElement(root, "Header", description=" ".join(title))
    SubElement(header, "Application", name="sparsedp")
    dictionary = SubElement(root, "DataDictionary")
    cells = {cell.column: cell for cell in design.program.cells}
    labels = [label_text(label) for label in model.classes or ()]
    taken = {"prediction", *(f"probability of {label}" for label in labels)}
    if len(set(labels)) < len(labels) or any(map(UNWRITABLE.search, labels)):
        raise ValueError("a file of XML cannot write the classes, or cannot tell two of them apart")
    for column, cell in cells.items():
        if column in taken:
            raise ValueError(f"the column {column!r:.60} has the name of an output: rename it")
        if column.startswith(OWN) or UNWRITABLE.search(column):
            raise ValueError(f"a file of XML cannot name the column {column!r:.60}: rename it")
        text = cell.read == "text"
        kind = ("categorical", "string") if text else ("continuous", "double")
        SubElement(dictionary, "DataField", name=column, optype=kind[0], dataType=kind[1])
    _target(model, dictionary)
    derived = SubElement(root, "TransformationDictionary")
    _derived(design, derived)
    if model.task == "multinomial":
        _shift(model, design, derived)
    _regression(model, design, list(cells), root)
    indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _target(model: PublishedModel, dictionary: Element) -> None:
    kind, data = ("continuous", "double") if model.classes is None else ("categorical", "string")
    field = SubElement(dictionary, "DataField", name=TARGET, optype=kind, dataType=data)
    for label in model.classes or ():
        SubElement(field, "Value", value=label_text(label))


def _derived(design: Design, dictionary: Element) -> None:
    """A field per step; columns have a value only where all checks hold."""
    program = design.program
    for name, expression in program.steps.items():
        field = _field(dictionary, f"{OWN}{name}")
        bend = design.bends.get(name)
        if bend is None:
            field.append(_number(expression))
            continue
        value, knots, heights = bend
        shape = SubElement(field, "NormContinuous", field=f"{OWN}{value}")
        for knot, height in zip(knots, heights, strict=True):
            SubElement(shape, "LinearNorm", orig=repr(knot), norm=repr(height))
    checks = tuple(Compare(Step(c.step), "=", Constant(1.0)) for c in program.checks)
    for k, name in enumerate(program.outputs.values()):
        column: Number = Step(name)
        if checks:
            column = Choose(((Every(checks), column),), Missing())
        _field(dictionary, f"{OWN}x{k}").append(_number(column))


def _shift(model: PublishedModel, design: Design, dictionary: Element) -> None:
    """The largest score, to be taken from all: evaluators take exponentials as they are."""
    for output, coef in enumerate(design.coef):
        terms = [Product(Constant(value), Step(f"x{k}")) for k, value in enumerate(coef)]
        score = Sum((Constant(model.intercept[output]), *terms))
        _field(dictionary, f"{OWN}score{output}").append(_number(score))
    scores = [_ref(f"{OWN}score{output}") for output in range(len(design.coef))]
    less = _apply("*", _number(Constant(-1.0)), _apply("max", *scores))
    _field(dictionary, SHIFT).append(less)


def _field(parent: Element, name: str) -> Element:
    return SubElement(parent, "DerivedField", name=name, optype="continuous", dataType="double")


def _regression(model: PublishedModel, design: Design, columns: list[str], root: Element) -> None:
    what = "regression" if model.classes is None else "classification"
    part = SubElement(
        root, "RegressionModel", functionName=what, normalizationMethod=METHODS[model.task]
    )
    mining = SubElement(part, "MiningSchema")
    for column in columns:
        SubElement(mining, "MiningField", name=column, invalidValueTreatment="asIs")
    SubElement(mining, "MiningField", name=TARGET, usageType="target")
    _outputs(model, SubElement(part, "Output"))
    labels = [None] if model.classes is None else list(map(label_text, model.classes))
    if model.task == "binary":  # the first table is that of the margin
        labels.reverse()
    rows = [*zip(model.intercept, design.coef, strict=True), (0.0, [])]
    for label, (intercept, coef) in zip(labels, rows, strict=False):
        table = SubElement(part, "RegressionTable", intercept=repr(intercept))
        if label is not None:
            table.set("targetCategory", label)
        for k, value in enumerate(coef):
            SubElement(table, "NumericPredictor", name=f"{OWN}x{k}", coefficient=repr(value))
        if model.task == "multinomial":
            SubElement(table, "NumericPredictor", name=SHIFT, coefficient="1.0")


def _outputs(model: PublishedModel, parent: Element) -> None:
    if model.classes is None:
        _output(parent, RAW, "predictedValue")
        lower, upper = float(model.target["lower"]), float(model.target["upper"])
        found = _output(parent, "prediction", "transformedValue")
        low = _apply("max", _ref(RAW), _number(Constant(lower)))
        within = _apply("min", low, _number(Constant(upper)))
        found.append(_unless_missing(RAW, within, "double"))
        return
    labels = list(map(label_text, model.classes))
    names = [f"probability of {label}" for label in labels]
    for name, label in zip(names, labels, strict=True):
        _output(parent, name, "probability").set("value", label)
    weights = model.target.get("class_weight") or [1.0] * len(labels)

    # Probabilities are multiplied by class weights; of equal ones the first is taken.
    def weighted(k: int) -> Element:
        return _apply("*", _ref(names[k]), _number(Constant(float(weights[k]))))

    best = _text(labels[-1])
    for k in reversed(range(len(labels) - 1)):
        others = [_apply("greaterOrEqual", weighted(k), weighted(j)) for j in range(len(labels))]
        best = _apply("if", _apply("and", *others), _text(labels[k]), best)
    _output(parent, "prediction", "transformedValue", "string").append(
        _unless_missing(names[0], best, "string")
    )


def _unless_missing(field: str, value: Element, kind: str) -> Element:
    """Evaluators leave missing values out of maxima, and take the last of what they cannot tell."""
    nothing = Element("Constant", dataType=kind, missing="true")
    return _apply("if", _apply("isMissing", _ref(field)), nothing, value)


def _output(parent: Element, name: str, feature: str, kind: str = "double") -> Element:
    optype = "continuous" if kind == "double" else "categorical"
    return SubElement(
        parent, "OutputField", name=name, feature=feature, optype=optype, dataType=kind
    )


def _apply(function: str, *arguments: Element) -> Element:
    found = Element("Apply", function=function)
    found.extend(arguments)
    return found


def _ref(name: str) -> Element:
    return Element("FieldRef", field=name)


def _text(value: str) -> Element:
    found = Element("Constant", dataType="string")
    found.text = value
    return found


def _number(it: Number) -> Element:
    match it:
        case Cell(column, "text"):
            return _apply("trimBlanks", _ref(column))
        case Cell(column):
            return _ref(column)
        case Constant(value):
            found = Element("Constant", dataType="double")
            found.text = repr(value)
            return found
        case Missing():
            return Element("Constant", dataType="double", missing="true")
        case Step(name):
            return _ref(f"{OWN}{name}")
        case Sum(terms):
            total = _number(terms[0])
            for term in terms[1:]:
                total = _apply("+", total, _number(term))
            return total
        case Product(left, right):
            return _apply("*", _number(left), _number(right))
        case Quotient(left, right):
            return _apply("/", _number(left), _number(right))
        case Function(name, of):
            return _apply(FUNCTIONS.get(name, name), _number(of))
        case Choose(cases, otherwise):
            chosen = _number(otherwise)
            for when, then in reversed(cases):
                chosen = _apply("if", _condition(when), _number(then), chosen)
            return chosen


def _condition(it: Condition) -> Element:
    match it:
        case IsMissing(Cell(column)):
            return _apply("isMissing", _ref(column))
        case IsMissing(of):
            return _apply("isMissing", _number(of))
        case Compare(left, how, right):
            return _apply(COMPARISONS[how], _number(left), _number(right))
        case IsAmong(of, values, folded):
            text = _apply("lowercase", _number(of)) if folded else _number(of)
            return _apply("isIn", text, *map(_text, values))
        case Every(conditions):
            each = list(map(_condition, conditions))
            return each[0] if len(each) == 1 else _apply("and", *each)
