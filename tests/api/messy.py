"""A deliberately messy table, as a hospital might export it, and its code book."""

import random
from pathlib import Path

HEADER = (
    *("Patienten-Nr", "Größe", "Gewicht", "Kosten", "Geschlecht", "Raucher", "Aufnahme"),
    *("Diagnose", "Stunde", "Bemerkung", "Rückfall", ""),
)
CODEBOOK = """\
name;kind;lower;upper;categories;missing;other;yes;no;format;period;words;decimal;thousands;description
Größe;whole;50;250;;indicator;;;;;;;;;cm
Gewicht;number;2;300;;indicator;;;;;;;,;.;kg
Kosten;number;0;100000;;0;;;;;;;,;.;Euro
Geschlecht;category;;;w=weiblich|m=männlich;indicator;true;;;;;;;;
Raucher;yes_no;;;;indicator;;J;N;;;;;;
Aufnahme;date;2015-01-01;2026-12-31;;indicator;;;;%d.%m.%Y;;;;;
Diagnose;category;;;I10|E11|J45|Übelkeit;;true;;;;;;;;
Stunde;cyclic;;;;;;;;;24;;;;
Bemerkung;text;;;;;;;;;;32;;;
Rückfall;category;;;nein|ja;;;;;;;;;;
Unbekannt;drop;;;;;;;;;;;;;not in the file
"""


def euros(amount: float) -> str:
    """1234.5 as 1.234,5."""
    whole, part = f"{amount:.1f}".split(".")
    groups = []
    while len(whole) > 3:
        whole, last = whole[:-3], whole[-3:]
        groups.insert(0, last)
    return ".".join([whole, *groups]) + "," + part


def rows(n_people: int, seed: int = 7) -> list[list[str]]:
    """Records of people with one to four rows each, some cells missing or not as declared."""
    drawn = random.Random(seed)
    found = []
    for person in range(n_people):
        size, smoker = drawn.gauss(172, 10), drawn.random() < 0.3
        sex = drawn.choice(["w", "m"])
        for _ in range(drawn.choice([1, 1, 2, 4])):
            weight, hour = drawn.gauss(75, 14), drawn.randrange(24)
            diagnosis = drawn.choice(["I10", "E11", "J45", "Übelkeit", "X99"])
            risk = smoker + 0.05 * (weight - 75) + (diagnosis == "E11") - 0.5
            day = f"{hour + 1:02d}.{drawn.randint(1, 12):02d}.{drawn.randint(2015, 2025)}"
            note = drawn.choice(["", "stabil; ruhig", 'sagt "gut"', "zwei\nZeilen", "Müdigkeit"])
            cells = [
                f"P{person:05d}",
                drawn.choice([f"{size:.0f}"] * 9 + [""]),
                drawn.choice([f"{weight:.1f}".replace(".", ",")] * 9 + ["NA"]),
                euros(drawn.uniform(0, 30000)),
                drawn.choice([sex] * 18 + ["d", ""]),
                drawn.choice([("N", "J")[smoker]] * 19 + [""]),
                drawn.choice([day] * 19 + [""]),
                diagnosis,
                str(hour),
                note,
                "ja" if risk + drawn.gauss(0, 0.5) > 0 else "nein",
                "",
            ]
            found.append(cells)
    return found


def write(path: Path, n_people: int, seed: int = 7) -> None:
    """The table: byte order mark, semicolons, CRLF, quotes, a nameless last column."""
    lines = [HEADER, *rows(n_people, seed)]
    text = "".join(";".join(map(_quoted, line)) + "\r\n" for line in lines)
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ';"\n') else cell
