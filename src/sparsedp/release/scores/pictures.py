"""ROC and calibration curve of a published model, drawn for the report."""

from dataclasses import dataclass

from sparsedp.release.scores.held_out import HeldOut

SIZE, LEFT, BOTTOM, EDGE = 240.0, 30.0, 26.0, 8.0
"""Of a drawing, and where its axes start, in its own units."""


@dataclass(frozen=True)
class Mark:
    """A point with its interval, from top to bottom."""

    x: float
    y: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Picture:
    """A curve in the unit square.

    Parameters
    ----------
    title, across, up, caption : str
        In words; what the axes are, and what is to be seen.
    points : str
        Of a line, for SVG; empty where there are marks.
    marks : tuple of Mark
    """

    title: str
    across: str
    up: str
    caption: str
    points: str = ""
    marks: tuple[Mark, ...] = ()

    size, left, bottom, edge = SIZE, LEFT, BOTTOM, EDGE

    @property
    def ticks(self) -> tuple[tuple[str, float, float], ...]:
        """Label, place across, place up."""
        return tuple((f"{value:g}", _across(value), _up(value)) for value in (0.0, 0.5, 1.0))


def pictures_of(found: HeldOut) -> tuple[Picture, ...]:
    """What can be drawn; curves that are noise are not there.

    Privacy
    -------
    Drawn from the released table alone.
    """
    drawn: list[Picture] = []
    roc = found.curves.get("roc")
    if roc is not None:
        pairs = zip(roc["false positive rate"], roc["true positive rate"], strict=True)
        drawn.append(
            Picture(
                title="ROC curve",
                across="false positive rate",
                up="true positive rate",
                caption="The further above the dotted line, the better classes are told apart.",
                points=" ".join(f"{_across(x):.1f},{_up(y):.1f}" for x, y in pairs),
            )
        )
    curve = found.curves.get("calibration")
    if curve is not None and curve["predicted"]:
        columns = (curve[name] for name in ("predicted", "observed", "upper", "lower"))
        drawn.append(
            Picture(
                title="Calibration",
                across="predicted probability",
                up="observed share, with its 95 % interval",
                caption="On the dotted line, probabilities are what they say. Bins that are noise "
                "are left out.",
                marks=tuple(
                    Mark(_across(x), _up(y), _up(top), _up(low))
                    for x, y, top, low in zip(*columns, strict=True)
                ),
            )
        )
    return tuple(drawn)


def _across(value: float) -> float:
    return LEFT + (SIZE - LEFT - EDGE) * value


def _up(value: float) -> float:
    return SIZE - BOTTOM - (SIZE - BOTTOM - EDGE) * value
