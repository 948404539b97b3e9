"""A model as an ONNX graph in double precision: a vector per column in, a vector per output out.

ONNX has no missing values: NaN stands for them in numbers, an empty text in texts. It cannot read
dates either: such a column comes as days since 1970-01-01. A record that would raise elsewhere has
NaN for its numbers, and ``valid`` is false.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

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
    Missing,
    Number,
    Product,
    Program,
    Quotient,
    Step,
    Sum,
)

OWN = "sparsedp:"
"""Begins names of the graph's own, so that no column has one of them."""

AXIS, LABELS = f"{OWN}axis", f"{OWN}labels"
OPSET = 18
IR_VERSION = 9
FUNCTIONS = {"exp": "Exp", "log": "Log", "sqrt": "Sqrt", "sin": "Sin", "floor": "Floor"}
COMPARISONS = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual"}


@dataclass
class _Graph:
    """Nodes and constants while a graph is written; equal ones are there once."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[float, str] = field(default_factory=dict)
    known: dict[object, str] = field(default_factory=dict)
    tensors: list[onnx.TensorProto] = field(default_factory=list)

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node; give its output."""
        name = f"{OWN}n{len(self.nodes)}"
        made = helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self.nodes.append(made)
        return name

    def constant(self, value: float) -> str:
        """A number for all records."""
        key = f"{OWN}k{len(self.constants)}"
        name = self.constants.setdefault(math.inf if math.isnan(value) else value, key)
        if name == key:
            self.tensors.append(helper.make_tensor(name, TensorProto.DOUBLE, [1], [value]))
        return name

    def number(self, it: Number) -> str:
        """Write a number."""
        if it in self.known:
            return self.known[it]
        name = self.known[it] = self._number(it)
        return name

    def _number(self, it: Number) -> str:
        match it:
            case Cell(column):
                return column
            case Constant(value):
                return self.constant(value)
            case Missing():
                return self.constant(math.nan)
            case Step(name):
                return self.known[Step(name)]
            case Sum(terms):
                total = self.number(terms[0])
                for term in terms[1:]:
                    total = self.node("Add", total, self.number(term))
                return total
            case Product(left, right):
                return self.node("Mul", self.number(left), self.number(right))
            case Quotient(left, right):
                return self.node("Div", self.number(left), self.number(right))
            case Function("cos", of):  # has no double precision everywhere
                turned = self.node("Add", self.number(of), self.constant(math.pi / 2))
                return self.node("Sin", turned)
            case Function(name, of):
                return self.node(FUNCTIONS[name], self.number(of))
            case Choose(cases, otherwise):
                found = self.number(otherwise)
                for when, then in reversed(cases):
                    found = self.node("Where", self.condition(when), self.number(then), found)
                return found

    def condition(self, it: Condition) -> str:
        """Write a condition."""
        match it:
            case IsMissing(Cell(column, "text")):
                return self._among(column, ("",))
            case IsMissing(of):
                return self.node("IsNaN", self.number(of))
            case Compare(left, "=", right):
                return self.node("Equal", self.number(left), self.number(right))
            case Compare(left, "<>", right):
                return self.node("Not", self.condition(Compare(left, "=", right)))
            case Compare(left, how, right):
                return self.node(COMPARISONS[how], self.number(left), self.number(right))
            case IsAmong(of, values, folded):
                return self._among(self._folded(of) if folded else of.column, values)
            case Every(conditions):
                return self.every([self.condition(each) for each in conditions])

    def every(self, conditions: Sequence[str]) -> str:
        """Whether all of some conditions hold."""
        found = conditions[0]
        for other in conditions[1:]:
            found = self.node("And", found, other)
        return found

    def _folded(self, cell: Cell) -> str:
        lower = {"case_change_action": "LOWER", "is_case_sensitive": 1, "locale": "C"}
        return self.node("StringNormalizer", cell.column, **lower)

    def _among(self, column: str, values: Sequence[str]) -> str:
        code = self.node(
            "LabelEncoder",
            column,
            domain="ai.onnx.ml",
            keys_strings=list(values),
            values_int64s=[1] * len(values),
            default_int64=0,
        )
        return self.node("Cast", code, to=TensorProto.BOOL)


def write(program: Program, title: Sequence[str]) -> bytes:
    """The bytes of an ONNX file."""
    taken = {"prediction", "valid", *program.outputs}
    for cell in program.cells:
        if cell.column in taken or cell.column.startswith(OWN):
            raise ValueError(f"the column {cell.column!r} has the name of an output: rename it")
    graph = _Graph()
    for name, expression in program.steps.items():
        graph.known[Step(name)] = graph.number(expression)
    valid = None
    if program.checks:
        one = graph.constant(1.0)
        steps = [graph.known[Step(check.step)] for check in program.checks]
        valid = graph.every([graph.node("Equal", step, one) for step in steps])
    outputs = []
    if program.label is not None:
        kind, name = _best(program.label, graph)
        outputs.append(_output(graph, name, "prediction", kind))
    for label, step in program.outputs.items():
        name = graph.known[Step(step)]
        if valid is not None:
            name = graph.node("Where", valid, name, graph.constant(math.nan))
        outputs.append(_output(graph, name, label, TensorProto.DOUBLE))
    if valid is not None:
        outputs.append(_output(graph, valid, "valid", TensorProto.BOOL))
    inputs = [
        helper.make_tensor_value_info(
            cell.column, TensorProto.STRING if cell.read == "text" else TensorProto.DOUBLE, ["n"]
        )
        for cell in program.cells
    ]
    made = helper.make_graph(graph.nodes, "sparsedp", inputs, outputs, graph.tensors)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(
        made, opset_imports=opsets, producer_name="sparsedp", doc_string="\n".join(title)
    )
    model.ir_version = IR_VERSION
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _output(graph: _Graph, name: str, label: str, kind: int) -> onnx.ValueInfoProto:
    graph.nodes.append(helper.make_node("Identity", [name], [label]))
    return helper.make_tensor_value_info(label, kind, ["n"])


def _best(label: Label, graph: _Graph) -> tuple[int, str]:
    """The label of the largest score; of equal ones the first."""
    axis = helper.make_tensor(AXIS, TensorProto.INT64, [1], [1])
    graph.tensors.append(axis)
    # A score may be one number for all records: adding it to zeros of all gives one for each.
    zeros = graph.node("Mul", graph.known[Step(label.scores[-1])], graph.constant(0.0))
    columns = [
        graph.node("Unsqueeze", graph.node("Add", graph.known[Step(score)], zeros), AXIS)
        for score in label.scores
    ]
    table = graph.node("Concat", *columns, axis=1)
    code = graph.node("ArgMax", table, axis=1, keepdims=0)
    whole = all(isinstance(word, int) and not isinstance(word, bool) for word in label.labels)
    kind = TensorProto.INT64 if whole else TensorProto.STRING
    words = np.array(
        [word if whole else str(word) for word in label.labels], None if whole else object
    )
    graph.tensors.append(numpy_helper.from_array(words, LABELS))
    return kind, graph.node("Gather", LABELS, code)
