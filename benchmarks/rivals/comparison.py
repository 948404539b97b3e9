"""Ours against each rival: means, cells won, and where we lose."""

import numpy as np
from benchmarks.rivals.results import EPSILONS, TASKS, cells
from benchmarks.rivals.tables import NOT_PRIVATE, table, title


def rivals_of(results, ours):
    """All private methods but ours."""
    return [m for m in results.methods() if m != ours and m not in NOT_PRIVATE]


def comparison(results, ours):
    """Mean difference at every epsilon, and how many cells are won and clearly lost."""
    for metric, name in TASKS.items():
        lines = []
        for rival in rivals_of(results, ours):
            found = cells(results, metric, ours, rival)
            line = [title(rival)]
            for epsilon in EPSILONS:
                at = [cell for cell in found if cell.epsilon == epsilon]
                if at:
                    mean = np.mean([cell.difference for cell in at])
                    won = sum(cell.difference > 0 for cell in at)
                    lost = sum(cell.difference < 0 and cell.is_clear for cell in at)
                    line.append(f"{mean:+.3f} ({won}/{lost}/{len(at)})")
                else:
                    line.append("-")
            lost = sum(cell.difference < 0 and cell.is_clear for cell in found)
            won = sum(cell.difference > 0 and cell.is_clear for cell in found)
            line.append(f"{won}/{lost}/{len(found)}")
            if found:
                lines.append(line)
        if lines:
            yield f"### {name}: mean difference (cells won / clearly lost / all)\n"
            head = ["ours less", *(f"ε = {e:g}" for e in EPSILONS), "clearly won / lost / all"]
            yield from table(head, lines)
            yield ""


def losses(results, ours):
    """Cells lost beyond two standard errors, the largest loss first."""
    for metric, name in TASKS.items():
        lines = []
        for rival in rivals_of(results, ours):
            names = results.sets(metric)
            for cell in cells(results, metric, ours, rival, names):
                if cell.difference < 0 and cell.is_clear:
                    lines.append((cell, rival))
        lines.sort(key=lambda line: line[0].difference)
        yield f"### {name}\n"
        if not lines:
            yield "None.\n"
            continue
        head = ["set", "ε", "rival", "ours", "theirs", "difference", "standard error"]
        yield from table(
            head,
            (
                [
                    c.set,
                    f"{c.epsilon:g}",
                    title(rival),
                    *(f"{value:.3f}" for value in (c.ours, c.theirs)),
                    f"{c.difference:+.3f}",
                    f"{c.error:.3f}",
                ]
                for c, rival in lines
            ),
        )
        yield ""
