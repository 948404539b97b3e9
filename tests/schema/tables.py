"""A schema with every kind of column, and records for it."""

HOSPITAL = """
[person]
column = "patient"

[target]
column = "readmitted"
classes = ["no", "yes"]

[weight]
column = "w"

[numbers]
decimal = ","
thousands = "."

[features.age]
lower = 0
upper = 120
missing = "indicator"

[features.income]
lower = 0
upper = 1e6
transform = "log1p"
missing = 0
currency = ["€", "EUR"]
parentheses = true

[features.share]
lower = 0
upper = 1
percent = true
transform = "sqrt"

[features.visits]
kind = "whole"
lower = 0
upper = 50

[features.bmi]
bins = [18.5, 25, 30]
missing = "indicator"

[features.lab]
knots = [0, 1, 10]

[features.sex]
categories = ["F", "M"]
other = true
missing = "indicator"

[features.ward]
categories = ["Öst", "Väst", "Syd", 7]
fold_case = true

[features.smoker]
kind = "yes_no"

[features."admitted on"]
kind = "date"
parts = ["year", "month", "weekday", "day_of_year", "days"]
lower = 2000-01-01
upper = 2030-12-31
format = "%d.%m.%Y"
missing = 2015-06-30

[features.hour]
kind = "cyclic"
period = 24

[features.notes]
kind = "text"
words = 16
seed = 5

[features.internal_id]
drop = true

[interactions]
pairs = [["age", "sex"], ["lab", "smoker"]]
"""

COLUMNS = (
    *("age", "income", "share", "visits", "bmi", "lab", "sex", "ward", "smoker"),
    *("admitted on", "hour", "notes"),
)

CELLS: dict[str, list[str]] = {
    "age": ["41", "", "1.000,5", "7,25"],
    "income": ["1.234,5", "€ 12", "(3)", "NA"],
    "share": ["12,5%", "0,5", "100 %", "3"],
    "visits": ["0", "3", "77", "1"],
    "bmi": ["18,5", "NA", "31", "24,9"],
    "lab": ["0", "0,5", "20", "5,5"],
    "sex": ["M", " F", "x", ""],
    "ward": ["öst", "VÄST", "Syd", "7"],
    "smoker": ["Y", "no", "1", "false"],
    "admitted on": ["01.02.2020", "31.12.1999", "29.02.2024", ""],
    "hour": ["0", "6", "12", "23,5"],
    "notes": ["fever and cough", "", "Fever FEVER", "12"],
}
