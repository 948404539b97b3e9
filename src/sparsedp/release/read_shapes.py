"""What a model file adds to lines: knots and bends of features, weights of pairs of them."""

import math
from dataclasses import replace
from itertools import pairwise

from sparsedp.data.bend import FEWEST_KNOTS
from sparsedp.release.checks import NotAModel, are_numbers, checked_fields, is_whole, need
from sparsedp.release.document import Json
from sparsedp.release.feature import Feature
from sparsedp.release.pair import Pair

MOST_KNOTS, MOST_SHAPES = 64, 30_000
"""Of one shape, and shapes times outputs in a file. Solvers make far fewer; whoever reads a file
looks at all of them, which would take minutes for a file that is made for that."""

MOST_PAIRS = MOST_SHAPES
"""Pairs that interact, times outputs."""


def with_shapes(
    content: Json, features: tuple[Feature, ...], n_outputs: int
) -> tuple[Feature, ...]:
    """The features with their bends; models of lines, and files of before, have none."""
    if content is None:
        return features
    if not isinstance(content, list):
        raise NotAModel("shapes must be a list")
    need(len(content) * n_outputs <= MOST_SHAPES, f"there are more than {MOST_SHAPES:,} shapes")
    by_index = {feature.index: feature for feature in features}
    found: list[int] = []
    for item in content:
        fields = checked_fields(item, ("feature", "knots", "bends"), "a shape")
        index = fields["feature"]
        if not is_whole(index) or index not in by_index:
            raise NotAModel(f"a shape belongs to no feature that is listed: {index!r:.40}")
        found.append(index)
        by_index[index] = _bent(by_index[index], fields["knots"], fields["bends"], n_outputs)
    need(found == sorted(set(found)), "shapes must be listed once each, by feature")
    return tuple(by_index.values())


def _bent(feature: Feature, knots: Json, bends: Json, n_outputs: int) -> Feature:
    where = f"the shape of feature {feature.index}"
    n_knots = len(knots) if isinstance(knots, list) else 0
    if not FEWEST_KNOTS <= n_knots <= MOST_KNOTS or not are_numbers(knots, n_knots):
        raise NotAModel(f"{where}: knots must be {FEWEST_KNOTS} to {MOST_KNOTS} finite numbers")
    at = tuple(map(float, knots))
    need(all(left < right for left, right in pairwise(at)), f"{where}: knots must ascend")
    # A model clips to these limits, and a bend is zero there.
    need((at[0], at[-1]) == (feature.lower, feature.upper), f"{where}: knots must span the limits")
    need(math.isfinite(at[-1] - at[0]), f"{where}: the limits are too far apart")
    heights = bends if isinstance(bends, list) else []
    each = [height for height in heights if are_numbers(height, n_knots)]
    need(
        len(each) == len(heights) == n_outputs,
        f"{where}: bends must list {n_outputs} times a finite number for each knot",
    )
    need(all(height[0] == height[-1] == 0 for height in each), f"{where}: bends end at zero")
    return replace(feature, knots=at, bends=tuple(tuple(map(float, height)) for height in each))


def checked_pairs(content: Json, features: tuple[Feature, ...], n_outputs: int) -> tuple[Pair, ...]:
    """The pairs of features that interact; other models, and files of before, have none."""
    if content is None:
        return ()
    if not isinstance(content, list):
        raise NotAModel("interactions must be a list")
    most = f"there are more than {MOST_PAIRS:,} interactions"
    need(len(content) * n_outputs <= MOST_PAIRS, most)
    limits = {feature.index: (feature.lower, feature.upper) for feature in features}
    found = tuple(_pair(item, limits, n_outputs) for item in content)
    pairs = [pair.features for pair in found]
    need(pairs == sorted(set(pairs)), "interactions must be listed once each, by features")
    return found


def _pair(item: Json, limits: dict[int, tuple[float, float]], n_outputs: int) -> Pair:
    fields = checked_fields(item, ("features", "weights"), "an interaction")
    both, weights = fields["features"], fields["weights"]
    indices = [j for j in both if is_whole(j) and j in limits] if isinstance(both, list) else []
    if not isinstance(both, list) or not len(both) == len(indices) == 2:
        raise NotAModel(f"an interaction is not of two features that are listed: {both!r:.40}")
    first, second = indices
    where = f"the interaction of features {first} and {second}"
    need(first < second, f"{where}: the features must be in their order")
    if not are_numbers(weights, n_outputs):
        raise NotAModel(f"{where}: weights must list {n_outputs} finite numbers")
    need(any(weights), f"{where}: one of the weights must not be zero")
    widths = (limits[j][1] - limits[j][0] for j in indices)
    need(all(map(math.isfinite, widths)), f"{where}: the limits are too far apart")
    return Pair(features=(first, second), weights=tuple(map(float, weights)))
