"""The kernel of walks: clocks, certificates, levels, draws, and what pays for a unit of score."""

from tests.mutants.mutant import Mutant

WALK = "src/sparsedp/_kernels/walk/"
TESTS = ("tests/walk/test_walk.py",)
WEIGHTS = ("tests/walk/test_weights.py",)
BUILDS = ("kernel", "checked")


def _in(
    file: str, old: str, new: str, survives: str = "", tests: tuple[str, ...] = TESTS
) -> Mutant:
    return Mutant(WALK + file, old, new, tests, BUILDS, survives)


MUTANTS = [
    _in("units.h", "{0.25, 1.0, 0.70711}", "{0.2, 1.0, 0.70711}"),
    _in("units.h", "{0.25, 1.0, 0.70711}", "{0.25, 0.8, 0.70711}"),
    _in("units.h", "{0.25, 1.0, 0.70711}", "{0.25, 1.0, 0.3}"),
    _in("units.h", "#define ONE 16384", "#define ONE 32767"),
    _in("units.h", "#define BLOCK 512", "#define BLOCK 1024"),
    _in("units.h", "(int64_t)high * 128 + low", "high * 128 + low"),
    _in("clocks.h", "s->spare = old, s->squares = squares;", "s->spare = old;"),
    _in("certificates.h", "    s->squares_origin = s->squares;\n", ""),
    _in("levels.h", "high >= stride ? high - stride + 1 : 0", "high"),
    _in("units.h", "miss * unit > ONE ? ONE / miss : unit", "unit"),
    _in("records.h", "base && q < p + size", "0 && q < p + size"),
    Mutant(
        WALK + "records.h",
        "v[i] += jump * (double)(p < end && row_at(m, p) == i ? m->x[p++] : base);",
        "v[i] += jump * (double)base,\n"
        "        v[i] += jump * (double)(p < end && row_at(m, p) == i ? m->x[p++] - base : 0);",
        ("tests/walk/test_breaking_walks.py",),
        BUILDS,
    ),
    _in(
        "records.h",
        "logistic(margin[q], target[q], unit)",
        "logistic(margin[q] * 1.001, target[q], unit)",
    ),
    _in("clocks.h", "(reach + s->length) * (1 + 1e-9)", "reach * (1 + 1e-9)"),
    _in("clocks.h", "(1 - step) * s->length + step * reach", "(1 - step) * s->length"),
    _in(
        "clocks.h",
        "least(s->since + s->rounding, s->farthest)",
        "least(s->since, s->farthest)",
    ),
    _in("clocks.h", "s->moved += distance", "s->moved += 0.7 * distance"),
    _in("clocks.h", "s->away = distance", "s->away = 0.8 * distance"),
    _in("clocks.h", "s->v[i] *= s->scale;", "s->v[i] *= 1;"),
    _in("certificates.h", "s->seen_at[e] = s->moved - ahead(s)", "s->seen_at[e] = s->moved"),
    _in(
        "certificates.h",
        "if (s->seen_step[e] == s->t + 1) return 1;",
        "if (s->seen_step[e] && s->seen_step[e] >= s->t) return 1;",
    ),
    _in("certificates.h", "if (e >= s->known_from) {", "if (1) {"),
    _in("certificates.h", "e >= known_from ? l2[e] * away : HUGE_VAL", "l2[e] * away"),
    _in(
        "certificates.h",
        "    memcpy(s->origin, s->r, 2 * (size_t)(s->m->n * s->n_outputs));\n",
        "",
    ),
    _in(
        "certificates.h",
        "    s->built_for = -2;\n",
        "",
        survives="levels from the old origin stay valid as long as they were built for: only time changes",
    ),
    _in("levels.h", "gap * (rate * PER_QUARTER) - 1e-5", "gap * (rate * PER_QUARTER) + 1"),
    _in(
        "levels.h",
        "* s->weight[l];\n    }\n    for (int64_t c",
        "* (s->weight[l] + 1);\n    }\n    for (int64_t c",
    ),
    _in("levels.h", "? 1 : 0);", "? -1 : 0);"),
    _in("levels.h", "s->capped[level] = 2 * (end - low)", "s->capped[level] = 2 * (end - low) - 1"),
    _in(
        "levels.h",
        "double mass = 0, top = (double)s->top - pad(s);",
        "double mass = 0, top = (double)s->top + 1e6 * pad(s);",
    ),
    _in("levels.h", "s->moved_limit = s->moved + extra;", "s->moved_limit = s->moved + 2 * extra;"),
    _in("levels.h", "return !(s->moved + ahead(s) <= s->moved_limit);", "return 0;"),
    _in("levels.h", "return s->built_for != s->t;", "return s->built_for < s->t - 1;"),
    _in("levels.h", "s->all = 1, s->built_for = s->t;", "s->all = 1, s->built_for = -1;"),
    _in("draw.h", "if (point < s->total) return point;", "return point % s->total;"),
    _in("draw.h", "double weight = exp(h), p = weight * per;", "double weight = exp(h), p = 1;"),
    _in("draw.h", "double worst = sign > 0 ? lo : -hi", "double worst = sign > 0 ? hi : -lo"),
    _in("draw.h", "best = sign > 0 ? hi : -lo;", "best = hi;"),
    _in("draw.h", "(sign > 0 ? s->seen[e] : -s->seen[e]) - s->top", "s->seen[e] - s->top"),
    _in("draw.h", "return answer > 0;", "return answer >= 0;"),
    _in("draw.h", "y < 1 ? p * 0.5 / (1 - 0.5 * y) : p / y", "p"),
    _in("draw.h", "s->depth = level - log(height);", "s->depth = level;"),
    _in("draw.h", "part < -LN2 ? part + LN2", "part < -LN2 ? part - 50"),
    _in("step.h", "s->all = s->gave_up = 0, ", "s->gave_up = 0, "),
    _in("step.h", "s->depth = HUGE_VAL;", ""),
    _in("step.h", "s->chosen[s->t] = 2 * e + (sign < 0);", "s->chosen[s->t] = 2 * e + (sign > 0);"),
    _in("step.h", "if (attempt > s->most_attempts && s->all) {", "if (0) {"),
    Mutant(
        "src/sparsedp/mechanisms/walk/lazy.py",
        "n_units = Fraction(score_range) / Fraction(bound) * ONE**2",
        "n_units = Fraction(score_range) / Fraction(bound) * ONE**2 / 2",
        TESTS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/compact.py",
        "np.rint(np.clip(np.nan_to_num(values), -1, 1) * ONE)",
        "np.rint(np.nan_to_num(values) * ONE)",
        TESTS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/compact.py",
        "cap = size * largest.sum(dtype=np.int64)",
        "cap = 0 * size",
        TESTS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/compact.py",
        "* (1 + 1e-9)\n",
        "* 0.9\n",
        TESTS,
    ),
    _in(
        "units.h",
        "(int64_t)weight * r / WHOLE_WEIGHT",
        "((int64_t)weight * r + WHOLE_WEIGHT / 2) / WHOLE_WEIGHT",
        tests=WEIGHTS,
    ),
    _in(
        "units.h",
        "(int64_t)weight * r / WHOLE_WEIGHT",
        "(int64_t)weight * r >> 30",
        tests=WEIGHTS,
    ),
    _in("units.h", "weight && c < k", "weight && c < 1", tests=WEIGHTS),
    _in("records.h", "m->weight && q < size", "0 && q < size"),
    Mutant(
        WALK + "reference.py",
        "np.abs(whole) * weights // WHOLE_WEIGHT",
        "(np.abs(whole) * weights + WHOLE_WEIGHT // 2) // WHOLE_WEIGHT",
        WEIGHTS,
    ),
    Mutant(
        WALK + "records.py",
        "(weights <= WHOLE_WEIGHT).all()",
        "True",
        WEIGHTS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/compact.py",
        "np.clip(np.nan_to_num(weights), 0, 1)",
        "np.nan_to_num(weights)",
        WEIGHTS,
    ),
    Mutant(
        "src/sparsedp/solvers/frank_wolfe/compact.py",
        "* ONE // WHOLE_WEIGHT",
        "* ONE // (WHOLE_WEIGHT + 2**25)",
        WEIGHTS,
    ),
    Mutant(
        "src/sparsedp/_kernels/walk/records.py",
        "((steps > 0) & (steps <= 1)).all()",
        "(steps <= 1).all()",
        TESTS,
    ),
]
