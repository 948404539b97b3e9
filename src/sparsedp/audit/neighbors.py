"""Pairs of tables that differ in one record and lie where that record shows the most.

Noise that is right for these pairs is hardly ever wrong elsewhere: records sit at corners of the
domain with extreme targets, and everything else ties.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sparsedp.data.bounds import Bounds
from sparsedp.data.dataset import Dataset
from sparsedp.losses import Loss, Multinomial, Squared
from sparsedp.privacy import Neighbors, PublicFacts, Shapes

Record = tuple[Sequence[float], float]
"""Features in [-1, 1] and a target: a class, or a number in [-1, 1]."""


@dataclass(frozen=True)
class Pair:
    """Two neighboring tables.

    Parameters
    ----------
    name : str
        What is special about it.
    one, other : Dataset
    neighbors : {"add_remove", "replace_one"}
    shapes : {"linear", "additive", "auto"}
        Whether features may bend, and interact if that is left open, for a solver that can.
    """

    name: str
    one: Dataset
    other: Dataset
    neighbors: Neighbors
    shapes: Shapes = "linear"

    def public(self, loss: Loss) -> PublicFacts:
        """What everybody may know about both."""
        return PublicFacts(
            n_features=self.one.n_features,
            n_nonzero=max(1, self.one.n_features // 2),
            n_outputs=loss.n_outputs,
            intercept=self.one.intercept,
            neighbors=self.neighbors,
            n_records=self.one.n_persons if self.neighbors == "replace_one" else None,
            row_norm=self.one.row_norm,
            loss=loss,
            unit=self.one.unit,
            weighting=self.one.weighting,
            rows_per_unit=1 if self.one.unit == "row" else None,
            shapes=self.shapes,
            interactions=self.shapes == "auto",
        )

    def swapped(self) -> "Pair":
        """The same pair, seen from the other table."""
        return replace(self, one=self.other, other=self.one)


def dataset(
    records: Sequence[Record],
    loss: Loss,
    *,
    intercept: bool = True,
    row_norm: float | None = None,
    groups: Sequence[int] | None = None,
) -> Dataset:
    """Records in the unit box, through the gate; of persons, if their ids are given."""
    X = np.array([x for x, _ in records], dtype=float)
    y = np.array([target for _, target in records])
    bounds = Bounds(lower=-1, upper=1, row_norm=row_norm)
    classes = range(loss.n_classes or 2)
    limits = (-1.0, 1.0) if loss.n_classes is None else None
    return Dataset.clip(
        X, y, bounds, classes=classes, target_bounds=limits, intercept=intercept, groups=groups
    )


def worst_pairs(loss: Loss, neighbors: Neighbors, rows: int | None = None) -> tuple[Pair, ...]:
    """Pairs that attain the sensitivities of gradients, selections and sums, whatever the solver.

    An audit tries all of them and goes on with the one that tells most. With ``rows`` the unit is
    a person: the one that differs has so many rows, one of which would say it all, and twice as
    many where it is replaced by its opposite; all others have one.
    """
    # Labels of a record that pulls its features up, and of one that pulls them down.
    up, down = (1.0, -1.0) if loss.n_classes is None else (1, 0)

    def pair(
        name: str,
        base: list[Record],
        record: Record,
        opposite: Record,
        intercept: bool = True,
        row_norm: float | None = None,
    ) -> Pair:
        """The record is added to the base, or takes the place of its opposite."""
        before: list[Record] = (
            [] if neighbors == "add_remove" else [opposite] * (2 * (rows or 0) or 1)
        )
        tables = []
        for person in (before, [record] * (rows or 1)):
            ids = [*range(len(base)), *[len(base)] * len(person)]
            groups = None if rows is None else ids
            how = {"intercept": intercept, "row_norm": row_norm}
            tables.append(dataset([*base, *person], loss, **how, groups=groups))
        return Pair(name, tables[0], tables[1], neighbors)

    idle: list[Record] = [([0.0], up), ([0.0], down)]
    # Under add/remove the scores go from -1/2 to +1/2 of the reach: the center of the mechanism.
    halfway: list[Record] = [([-0.5], up)] if neighbors == "add_remove" else []
    ones, signs = [1.0] * 4, [1.0, -1.0, 1.0, -1.0]
    against = [-x for x in signs]
    balanced: list[Record] = [(x, y) for x in (ones, [-1.0] * 4) for y in (up, down)]
    first = [1.0, 0.0, 0.0]
    nothing: list[Record] = [([0.0] * 3, up), ([0.0] * 3, down)]
    return (
        pair("two vertices", idle + halfway, ([1.0], up), ([1.0], down), intercept=False),
        # Every feature stands for itself: magnitudes of half of them rise, the others fall.
        pair("rise and fall", [(ones, up)] * 3 + balanced, (signs, up), (against, up)),
        pair("tied columns", balanced, (ones, up), (ones, down)),
        pair("many records", balanced * 10, (signs, up), (against, up)),
        pair("one-hot", nothing, (first, up), (first, down), intercept=False, row_norm=1.0),
        pair("one-hot, constant", nothing * 5, (first, up), (first, down), row_norm=1.0),
    )


def bent_pair(loss: Loss, neighbors: Neighbors, n_features: int, n_records: int) -> Pair:
    """Records all over the box, enough of them that features bend, and one at a corner.

    All features hold the same, and targets follow the distance from the middle: lines see nothing.
    One feature leaves nothing to be chosen. Of several, the gradients of some rise by the record
    and those of the others fall.
    """
    up, down = (1.0, -1.0) if loss.n_classes is None else (1, 0)
    places = np.linspace(-1, 1, n_records).tolist()
    base: list[Record] = [([x] * n_features, up if abs(x) > 0.5 else down) for x in places]
    signs = [1.0 if j % 2 == 0 else -1.0 for j in range(n_features)]
    before: list[Record] = [] if neighbors == "add_remove" else [([0.0] * n_features, down)]
    tables = [dataset([*base, *more], loss) for more in (before, [(signs, down)])]
    return Pair("bent", tables[0], tables[1], neighbors, "additive")


def interacting_pair(loss: Loss, neighbors: Neighbors, n_features: int, n_records: int) -> Pair:
    """Records all over the box, enough of them that features interact, and one at a corner.

    Targets follow the product of the first two features, and that record's does not.
    """
    up, down = (1.0, -1.0) if loss.n_classes is None else (1, 0)
    places = np.random.default_rng(0).uniform(-1, 1, (n_records, n_features))
    base: list[Record] = [(x.tolist(), up if x[0] * x[1] > 0 else down) for x in places]
    before: list[Record] = [] if neighbors == "add_remove" else [([0.0] * n_features, down)]
    tables = [dataset([*base, *more], loss) for more in (before, [([1.0] * n_features, down)])]
    return Pair("interacting", tables[0], tables[1], neighbors, "auto")


def loud_pair(loss: Loss, neighbors: Neighbors, n_features: int, n_records: int) -> Pair:
    """Records all over the box, so few that a descent is the way, and one at a corner.

    Targets follow the first feature, and those of the record at the corner do not.
    """
    up, down = (1.0, -1.0) if loss.n_classes is None else (1, 0)
    base: list[Record] = []
    for i, x in enumerate(np.linspace(-1, 1, n_records).tolist()):
        others = [0.5 * x if (i + j) % 2 else -0.5 * x for j in range(1, n_features)]
        base.append(([x, *others], up if x > 0 else down))
    before: list[Record] = [] if neighbors == "add_remove" else [([-1.0] * n_features, down)]
    tables = [dataset([*base, *more], loss) for more in (before, [([1.0] * n_features, down)])]
    return Pair("loud", tables[0], tables[1], neighbors)


def linear_pair(neighbors: Neighbors) -> Pair:
    """Two tied features and a residual that tiny weights do not change: a linear loss.

    Four tied vertices are the worst case of Laplace noisy max: its log-odds move 7/6 times as fast
    as those of the exponential mechanism.
    """
    up, down = ([1.0, 1.0], 1.0), ([1.0, 1.0], -1.0)
    # Under add/remove a table of idle records, which pull at nothing, gains the record.
    idle: list[Record] = [([0.0, 0.0], 1.0)]
    one = [*idle, down] if neighbors == "replace_one" else idle
    tables = [dataset(records, Squared(), intercept=False) for records in (one, [*idle, up])]
    return Pair("linear, tied", tables[0], tables[1], neighbors)


def flipped_label_pair(n_features: int) -> Pair:
    """One record of ones whose label changes; two classes as codes, for a multinomial loss."""
    one, other = (
        dataset([([1.0] * n_features, label)], Multinomial(2), intercept=False) for label in (0, 1)
    )
    return Pair(
        "label flipped",
        replace(one, target=one.target.astype(np.intp)),
        replace(other, target=other.target.astype(np.intp)),
        "replace_one",
    )


def canceling_pair(loss: Loss) -> Pair:
    """One record pulls alone at its feature, with either label; all others cancel."""
    others: list[Record] = [([0.0, 1.0], i % 2) for i in range(398)]
    tables = [dataset([*others, ([1.0, 0.0], y)], loss, intercept=False) for y in (0, 1)]
    return Pair("canceling", tables[0], tables[1], "replace_one")


def turned_row_pair(target: float, n_records: int, n_features: int) -> Pair:
    """All ones against one row of minus ones: a model that fits the target no longer does."""
    ones = np.ones((n_records, n_features))
    turned = ones.copy()
    turned[0] = -1
    y = np.full(n_records, target)
    one, other = (
        Dataset.clip(X, y, Bounds(lower=-1, upper=1), target_bounds=(-1, 1), intercept=False)
        for X in (ones, turned)
    )
    return Pair("one row turned", one, other, "replace_one")
