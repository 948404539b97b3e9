"""Effects in words, as the report shows them."""

import base64
import hashlib
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from sparsedp import Bounds, Schema, SparseLinearRegression, SparseLogisticRegression
from sparsedp.release import PublishedModel
from sparsedp.release.effects import effects_of
from sparsedp.release.feature import Feature
from sparsedp.release.report import render_report
from sparsedp.solvers import FrankWolfe

UPPER = [1.0, 120.0, 1e6, 3.0, 1.0]
BOUNDS = Bounds([0, 0, 0, 1, 0], UPPER, binary=[0, 3])
"""A yes/no, an age, an income, a code of two values, a fraction."""


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).random((200, 5)) * UPPER
    fitted = SparseLogisticRegression(
        epsilon=1, delta=1e-5, bounds=BOUNDS, classes=(0, 1), solver=FrankWolfe(n_steps=20)
    ).fit(X, X[:, 1] > 60)
    return PublishedModel.from_estimator(fitted)


def told(model, task, coefs):
    """The model with these coefficients of all features, and what is said about it."""
    features = tuple(
        Feature(index=j, name=None, lower=low, upper=high, coef=(coef,))
        for j, (low, high, coef) in enumerate(zip([0, 0, 0, 1, 0], UPPER, coefs, strict=True))
    )
    return [
        (effect.step, effect.change)
        for effect in effects_of(replace(model, task=task, features=features)).values()
    ]


def test_two_levels_are_told_by_their_names():
    schema = Schema(
        features={
            "sex": {"categories": ["F", "M"], "missing": "indicator"},
            "smoker": {"kind": "yes_no"},
        }
    )
    frame = {"sex": ["F", "M"] * 100, "smoker": ["yes", "no", "no", "yes"] * 50}
    fitted = SparseLogisticRegression(
        epsilon=9, delta=1e-5, schema=schema, classes=(0, 1), solver="noisy_gd"
    ).fit(frame, [0, 1] * 100)
    steps = {
        e.feature.name: e.step for e in effects_of(PublishedModel.from_estimator(fitted)).values()
    }
    assert steps == {
        "sex=M": "M instead of F",
        "sex missing": "yes instead of no",
        "smoker": "yes instead of no",
    }


def test_a_step_is_one_that_a_reader_knows(model):
    coefs = [math.log(2), math.log(3), math.log(2) / 1e5, -math.log(2) / 2, 1.0]
    assert told(model, "binary", coefs) == [
        ("yes instead of no", "odds × 2"),
        ("each 1 more", "odds × 3"),
        ("each 100,000 more", "odds × 2"),
        ("3 instead of 1", "odds × 0.5"),
        ("each 0.1 more", "odds × 1.11"),
    ]
    assert told(model, "count", coefs)[0] == ("yes instead of no", "count × 2")
    assert told(model, "linear", [-0.25, 7, 1e-5, 0.5, 1.0]) == [
        ("yes instead of no", "−0.25"),
        ("each 1 more", "+7"),
        ("each 100,000 more", "+1"),
        ("3 instead of 1", "+1"),
        ("each 0.1 more", "+0.1"),
    ]


def test_the_report_names_class_weights_and_offsets():
    random = np.random.default_rng(0)
    X, offset = random.random((300, 2)), random.random(300)
    fitted = SparseLogisticRegression(
        epsilon=1,
        delta=1e-5,
        bounds=(0, 1),
        classes=(0, 1),
        class_weight={1: 4},
        offset_bounds=(0, 1),
    ).fit(X, X[:, 0] > 0.5, offset=offset)
    text = render_report(PublishedModel.from_estimator(fitted))
    assert "<td>0.25, 1</td>" in text
    assert "between 0 and 1, added to every margin" in text
    assert "+ the record&#39;s offset" in text or "+ the record's offset" in text


def test_what_cannot_be_written_is_bounded(model):
    said = [change for _, change in told(model, "binary", [800, -800, 0, 1, 1])]
    assert said[:3] == ["odds × over 1,000,000", "odds × below 0.000001", "odds × 1"]


def test_limits_that_were_tightened_stand_beside_the_declared_ones():
    random = np.random.default_rng(0)
    X = random.exponential(3, size=(5000, 3))
    fitted = SparseLinearRegression(
        epsilon=10,
        delta=1e-5,
        bounds=(0, 1000),
        target_bounds=(-10, 10),
        n_nonzero=3,
        shapes="linear",
    ).fit(X, X[:, 0] - X[:, 1])
    model = PublishedModel.from_estimator(fitted)
    text = render_report(model)
    assert fitted.clipped_
    assert text.count("(declared 0 to 1000)") == len(fitted.clipped_)
    assert "would be off by up to" in text
    assert "would be off by up to" not in render_report(
        replace(model, features=tuple(replace(f, lower=0, upper=1000) for f in model.features))
    )


def test_a_browser_applies_the_style_of_the_page_and_nothing_else(model):
    page = render_report(model)
    style = re.search(r"<style>(.*?)</style>", page, re.DOTALL).group(1)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert " style=" not in page
    assert "<script" not in page
    assert "prefers-color-scheme: dark" in style
