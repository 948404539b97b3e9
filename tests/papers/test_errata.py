"""Errata of papers: each is on the page, is convicted, and prints what the page shows.

All noise has fixed seeds. A bound that is measured is wrong with probability 1e-6 at most.
"""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from sparsedp.audit.errata import errata, lasso, pretraining, screening, sparsifier, tuning
from sparsedp.audit.errata.erratum import Finding, violation
from sparsedp.audit.errata.laws import discrete_epsilon, gaussian_epsilon, tied_vertices
from sparsedp.cli import main
from sparsedp.privacy.account.gaussian import gaussian_delta
from sparsedp.solvers import FrankWolfe, NoisyGD

PAGE = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"```\n\$ sparsedp audit --erratum (\S+)\n(.*?)```\n", re.DOTALL)
SHOWN = dict(BLOCK.findall(PAGE))
NAMES = [entry.name for entry in errata()]


def run(*arguments):
    return CliRunner().invoke(main, ["audit", "--erratum", *arguments])


def test_page_and_code_have_the_same_entries():
    headings = re.findall(r"^### (\S+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(SHOWN) == sorted(NAMES)
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_command_prints_what_the_page_shows(name):
    result = run(name)
    assert result.exit_code == 0, result.output
    assert result.output == SHOWN[name]
    for word in ("claim  ", "why  ", "verdict  ", "instead  "):
        assert f"\n  {word}" in result.output


def test_every_bound_on_noise_has_a_control():
    bounds = [name for name, text in SHOWN.items() if " is at least " in text]
    assert len(bounds) == 17
    for name in bounds:
        assert "\n  control  " in SHOWN[name], name


def test_names_are_listed_and_unknown_ones_refused():
    listed = run("list")
    assert listed.exit_code == 0
    assert [line.split()[0] for line in listed.output.splitlines()] == NAMES
    assert [entry["name"] for entry in json.loads(run("list", "--json").output)] == NAMES
    content = json.loads(run("listing-ascent", "--json").output)
    assert content[0]["stands"] is True
    unknown = run("lasso")
    assert unknown.exit_code == 2
    assert "--erratum list" in unknown.output


# --- a conviction falls where the noise is right, or where the attack is at fault ----------------


def convicted(name):
    return next(entry for entry in errata() if entry.name == name).convict()


def test_a_control_above_the_claim_lets_a_conviction_fall():
    assert violation(1.0, 0.01, 2.0, 0.9).stands
    assert not violation(1.0, 0.01, 2.0, 1.1).stands
    assert not violation(1.0, 0.01, 1.0, 0.5).stands


def test_with_twice_the_laplace_noise_private_lasso_is_not_convicted(monkeypatch):
    monkeypatch.setattr(
        lasso, "printed_scale", lambda e, d, t: 2 * math.sqrt(8 * t * math.log(1 / d)) / e
    )
    for name in ("lasso-replaced", "lasso-composition"):
        entry = next(entry for entry in lasso.errata() if entry.name == name)
        finding = entry.convict()
        assert not finding.stands
        assert "NOT CONFIRMED" in "\n".join(entry.lines(finding))


def test_with_the_right_sensitivity_screening_is_not_convicted(monkeypatch):
    printed = screening.printed_linear
    monkeypatch.setattr(screening, "printed_linear", lambda n: 28 * printed(n))
    assert not convicted("screening-sensitivity").stands


def test_fits_with_proven_noise_are_not_convicted(monkeypatch):
    monkeypatch.setattr(
        pretraining, "NoisyGD", lambda **how: NoisyGD(**how | {"calibration": "proven"})
    )
    assert not convicted("pretraining-clip").stands


def test_the_exit_code_says_that_a_conviction_fell(monkeypatch):
    # Sixty fits on each side would be enough to convict.
    monkeypatch.setattr(sparsifier, "RUNS", 60)
    monkeypatch.setattr(sparsifier, "_exact_count", lambda attack, data: 6)
    result = run("sparsifier-listing")
    assert result.exit_code == 1
    assert "NOT CONFIRMED" in result.output


def test_a_setting_that_no_record_chooses_shows_nothing(monkeypatch):
    monkeypatch.setattr(tuning, "RUNS", 60)
    one = FrankWolfe(radius=1.0, n_steps=20, calibration="published")
    finding = tuning._convict([one, one])
    assert isinstance(finding, Finding)
    assert not finding.stands


# --- the laws ----------------------------------------------------------------------------------


def test_discrete_epsilon_is_where_the_divergence_falls_to_delta():
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.3, 0.6])
    for delta in (0.0, 0.05, 0.3):
        epsilon = discrete_epsilon(p, q, delta)
        assert np.maximum(p - math.exp(epsilon) * q, 0).sum() == pytest.approx(delta, abs=1e-12)
    assert discrete_epsilon(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.01) == math.inf
    assert discrete_epsilon(p, p, 0.0) == 0


def test_gaussian_epsilon_inverts_the_exact_delta():
    for mu in (0.1, 2.0, 80.0):
        epsilon = gaussian_epsilon(mu, 1e-4)
        assert gaussian_delta(epsilon, mu) == pytest.approx(1e-4, rel=1e-6)
    assert gaussian_epsilon(0.01, 0.1) == 0


def test_picks_among_tied_vertices():
    # Large scales: four tied candidates whose log-odds move by 7/6 of the scores' difference.
    law = tied_vertices(1e4, 1)
    assert law.odds * 1e4 == pytest.approx(2 * 7 / 6, rel=1e-3)


def test_vertices_that_are_hardly_ever_picked():
    """By 40 digits: less than what a probability lacks of one is rounded to."""
    law = tied_vertices(0.04767102161243531, 1)
    assert law.odds == pytest.approx(-math.log(2 * 2.50788335582e-19), abs=1e-9)
    assert law.epsilon(1 / 6000) == pytest.approx(42.13636379, abs=1e-6)
