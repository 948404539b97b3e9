"""A hospital's registry, made up: several stays a patient, missing cells, a rare outcome."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

N_PATIENTS = 20_000
DIAGNOSES = ("heart failure", "pneumonia", "stroke", "hip fracture", "diabetes", "sepsis", "other")
WORSE = (0.9, 0.2, 0.0, -0.4, 0.3, 0.6, -0.2)
"""What a diagnosis adds to the log-odds of coming back."""

STAYS = (0.42, 0.24, 0.14, 0.1, 0.06, 0.04)
"""Shares of the patients with one to six stays."""

SCHEMA = """\
# What each column holds, from what is known about hospitals: nobody looked at the records for it.
[person]
column = "patient_id"            # whole patients are protected, each with all stays

[target]
column = "readmitted"            # within thirty days
classes = ["no", "yes"]

[features.age]
kind = "whole"
lower = 18
upper = 110
source = "the registry holds adults"

[features.sex]
categories = ["F", "M"]
source = "code book of the registry"

[features.bmi]
lower = 10
upper = 70
missing = "indicator"            # not always measured: a 0/1 column says where
source = "code book of the registry"

[features.systolic]
lower = 60
upper = 260
source = "range of the instrument"
missing = "indicator"

[features.hba1c]
lower = 3
upper = 16
missing = "indicator"            # measured where diabetes is suspected
source = "code book of the registry"

[features.creatinine]
lower = 0.2
upper = 15
transform = "log1p"
missing = 1
source = "code book of the registry"

[features.smoker]
kind = "yes_no"
missing = "indicator"
source = "code book of the registry"

[features.diagnosis]
categories = [{diagnoses}]
reference = "other"              # the others are compared with it
source = "code book of the registry"

[features.admitted]
kind = "date"
parts = ["day_of_year"]
lower = 2020-01-01
upper = 2025-12-31
source = "code book of the registry"

[features.days]
kind = "whole"
lower = 0
upper = 120
transform = "log1p"
source = "code book of the registry"

[features.earlier_stays]
kind = "whole"
lower = 0
upper = 20
source = "code book of the registry"

[features.drugs]
kind = "whole"
lower = 0
upper = 40
source = "code book of the registry"

[features.weekend]
kind = "yes_no"
source = "code book of the registry"
"""


def write_registry(folder: Path, seed: int | None) -> tuple[Path, Path]:
    """Write patients.csv and schema.toml.

    One stay in fourteen is followed by another within thirty days. The odds rise towards both ends
    of weight, and with age only from seventy on: lines miss part of it. Some columns say nothing.
    """
    import numpy as np

    folder.mkdir(parents=True, exist_ok=True)
    table, schema = folder / "patients.csv", folder / "schema.toml"
    schema.write_text(SCHEMA.format(diagnoses=", ".join(f'"{name}"' for name in DIAGNOSES)))
    columns = _columns(np.random.default_rng(seed))
    with table.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(columns)
        lines.writerows(zip(*columns.values(), strict=True))
    return table, schema


def _columns(rng: "np.random.Generator") -> dict[str, list[str]]:
    """Cells by column; each patient has one to six stays."""
    import numpy as np

    who = np.repeat(np.arange(N_PATIENTS), rng.choice(6, N_PATIENTS, p=STAYS) + 1)
    n = len(who)
    age = np.clip(rng.normal(66, 15, N_PATIENTS), 18, 104).astype(int)[who]
    male, smoker = (rng.random(N_PATIENTS) < 0.48)[who], (rng.random(N_PATIENTS) < 0.2)[who]
    bmi = np.clip(rng.normal(27, 5.5, N_PATIENTS)[who] + rng.normal(0, 0.8, n), 13, 58)
    diagnosis = rng.choice(len(DIAGNOSES), n, p=(0.15, 0.14, 0.1, 0.1, 0.13, 0.06, 0.32))
    diabetes = diagnosis == DIAGNOSES.index("diabetes")
    hba1c = np.clip(rng.gamma(9, 0.35, n) + 3.2 + 1.6 * diabetes, 3.5, 15)
    creatinine = np.clip(rng.lognormal(0.05, 0.45, n), 0.3, 12)
    systolic = np.clip(rng.normal(134, 21, n), 70, 240)
    days, earlier, drugs = rng.geometric(0.17, n), rng.poisson(0.8, n), rng.poisson(4 + 0.05 * age)
    admitted = np.datetime64("2020-01-01") + rng.integers(0, 6 * 365, n)
    log_odds = (
        -5.0
        + np.array(WORSE)[diagnosis]
        + 0.075 * np.maximum(age - 70, 0)
        + 0.18 * np.maximum(22 - bmi, 0)
        + 0.10 * np.maximum(bmi - 32, 0)
        + 0.55 * np.minimum(earlier, 5)
        + 0.9 * np.log1p(creatinine)
        + 0.3 * smoker
        + 0.035 * drugs
    )
    again = rng.random(n) < 1 / (1 + np.exp(-log_odds))
    return {
        "patient_id": [f"P{person:06d}" for person in who],
        "age": _cells(age),
        "sex": _cells(np.where(male, "M", "F")),
        "bmi": _cells(bmi.round(1), rng.random(n) < 0.12),
        "systolic": _cells(systolic.astype(int), rng.random(n) < 0.05),
        "hba1c": _cells(hba1c.round(1), rng.random(n) < np.where(diabetes, 0.05, 0.55)),
        "creatinine": _cells(creatinine.round(2), rng.random(n) < 0.08),
        "smoker": _cells(np.where(smoker, "yes", "no"), rng.random(n) < 0.1),
        "diagnosis": [DIAGNOSES[code] for code in diagnosis],
        "admitted": _cells(admitted),
        "days": _cells(np.minimum(days, 120)),
        "earlier_stays": _cells(earlier),
        "drugs": _cells(np.minimum(drugs, 40)),
        "weekend": _cells(np.where(rng.random(n) < 2 / 7, "yes", "no")),
        "readmitted": _cells(np.where(again, "yes", "no")),
    }


def _cells(values: "np.ndarray", missing: "np.ndarray | None" = None) -> list[str]:
    """Text as a program would write it, empty where missing."""
    cells = [str(value) for value in values.tolist()]
    if missing is None:
        return cells
    return ["" if gap else cell for cell, gap in zip(cells, missing.tolist(), strict=True)]
