"""Formulas of the notes, typeset: ``x_ij``, ``e^{-t}`` and ``<=`` become what they stand for.

Notes are plain text beside the code, to be read in an editor too. Between dollars they may have
TeX, which becomes MathML: no script, and nothing loaded from elsewhere.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eta": "η"},
    **{"theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "rho": "ρ", "sigma": "σ"},
    **{"nu": "ν", "pi": "π", "tau": "τ", "phi": "φ", "psi": "ψ", "omega": "ω"},
    **{"Delta": "Δ", "Sigma": "Σ", "Phi": "Φ"},
}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "+-": "±", "->": "→", "<-": "←", " * ": " · "}
WORDS = {"sqrt": "√", "sum": "∑"}

_LETTER = r"(?:" + "|".join(GREEK) + r"|[A-Za-zα-ωΑ-Ω])"
_BASE = (
    rf"(?:(?<![A-Za-z_]){_LETTER}\d?'?|(?<![\w.])(?:sum|log|max|min|\d*\.?\d+)"
    r"|(?<!\w)[a-z]{2,}(?=\^[\d{])|[)\]|}])"
)
_DOWN = r"_(?:\{[^{}]*\}|[A-Za-z0-9]{1,3}(?![A-Za-z0-9_]))"
_UP = r"\^(?:\{[^{}]*\}|\([^()]*\)|-?[A-Za-z0-9]+(?:/\d+)?|[*+])"
_SIGN = "|".join(re.escape(sign) for sign in SIGNS)
FORMULA = re.compile(
    rf"(?P<base>{_BASE})(?P<marks>(?:{_DOWN}|{_UP})+)"
    rf"|(?<![\w'’.])(?P<greek>{'|'.join(GREEK)})(?P<index>\d?)(?![\w])"
    rf"|(?P<root>\bsqrt)(?=\()|(?P<sign>{_SIGN})"
    r"|(?<![\w'’./])(?<!\w-)(?P<letter>[b-zB-HJ-Z])(?![\w'’/\-]|\.\w)"
)
MARK = re.compile(rf"{_DOWN}|{_UP}")


def typeset(text: str) -> Iterator[nodes.Node]:
    """The text with its formulas as subscripts, superscripts and signs."""
    end = 0
    for found in FORMULA.finditer(text):
        if found.start() > end:
            yield nodes.Text(text[end : found.start()])
        end = found.end()
        yield from _formula(found)
    if end < len(text):
        yield nodes.Text(text[end:])


def _formula(found: re.Match[str]) -> Iterator[nodes.Node]:
    if found["sign"]:
        yield nodes.Text(SIGNS[found["sign"]])
    elif found["root"]:
        yield nodes.Text(WORDS["sqrt"])
    elif found["letter"]:
        yield nodes.emphasis("", found["letter"])
    elif found["greek"]:
        yield from _base(found["greek"] + found["index"])
    else:
        yield from _base(found["base"])
        for mark in MARK.findall(found["marks"]):
            kind = nodes.subscript if mark[0] == "_" else nodes.superscript
            inner = mark[1:].strip("{}").replace("-", "−")
            yield kind("", "", *typeset(inner))


def _base(text: str) -> Iterator[nodes.Node]:
    if text in WORDS:
        yield nodes.Text(WORDS[text])
    elif re.fullmatch(rf"{_LETTER}\d?'?", text):
        name = text.rstrip("'0123456789")
        index = text[len(name) :].rstrip("'")
        yield nodes.emphasis("", GREEK.get(name, name))
        if index:
            yield nodes.subscript("", index)
        if text.endswith("'"):
            yield nodes.Text("′")
    else:
        yield nodes.Text(text)


def typeset_notes(app: Any, document: nodes.document) -> None:
    """Typeset the running text of a note; code, links' targets and headings stay as they are."""
    if not app.env.docname.startswith(("src/", "docs/errata")):
        return
    for node in list(document.findall(nodes.Text)):
        within = node.parent
        while within is not None and not isinstance(within, nodes.literal | nodes.title):
            if isinstance(within, nodes.literal_block | nodes.math | nodes.math_block):
                break
            within = within.parent
        if within is None and node.parent is not None:
            node.parent.replace(node, list(typeset(str(node))))


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register what this extension does."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("doctree-read", typeset_notes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
