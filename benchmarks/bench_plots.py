"""The figures of benchmarks/results.md."""

import matplotlib as mpl
from matplotlib.figure import Figure

# Okabe and Ito's colors, told apart with any color vision; shapes help in gray.
OTHERS = {
    "appendix_b": ("appendix B", "#000000", "X"),
    "afrl_ri": ("afrl-ri", "#999999", "P"),
    "numpy": ("NumPy, with care", "#E69F00", "s"),
}
OURS = {
    "laplace full": ("ours, full", "#56B4E9", "v"),
    "laplace auto": ("ours, published noise", "#0072B2", "o"),
    "exponential auto": ("ours, sound noise", "#009E73", "^"),
}
CURVES = {
    "appendix_b": ("appendix B", "#000000", "X", "-"),
    "full": ("ours, full", "#56B4E9", "v", "-"),
    "laplace 10": ("published, ε = 10", "#0072B2", "o", "-"),
    "laplace 1": ("published, ε = 1", "#0072B2", "o", "--"),
    "laplace 0.1": ("published, ε = 0.1", "#0072B2", "o", ":"),
    "exponential 10": ("sound, ε = 10", "#009E73", "^", "-"),
    "exponential 1": ("sound, ε = 1", "#009E73", "^", "--"),
    "exponential 0.1": ("sound, ε = 0.1", "#009E73", "^", ":"),
}
AXES = {"n": "records n", "d": "features d", "per_row": "entries per record"}


def plain(panel):
    """Light grid, no box."""
    panel.grid(which="major", color="#dddddd", linewidth=0.6, zorder=0)
    panel.spines[["top", "right"]].set_visible(False)


def start(seed):
    """Same bytes for the same figures."""
    mpl.rcParams.update({"svg.hashsalt": seed, "font.size": 9})


def write_steps(path, walk):
    """A panel for each epsilon, a row for each set, a mark for each way to take a step."""
    start("steps")
    names = list(dict.fromkeys(line["set"] for line in walk))
    epsilons = sorted({line["epsilon"] for line in walk})
    figure = Figure(figsize=(11, 1.4 + 0.36 * len(names)), layout="constrained")
    panels = figure.subplots(1, len(epsilons), sharex=True, sharey=True, squeeze=False)[0]
    marks = OTHERS | OURS
    for panel, epsilon in zip(panels, epsilons, strict=True):
        for row in range(1, len(names), 2):
            panel.axhspan(row - 0.5, row + 0.5, color="#f3f3f3", zorder=0)
        for key, (label, color, shape) in marks.items():
            lines = [line for line in walk if line["epsilon"] == epsilon]
            rows = [names.index(line["set"]) for line in lines]
            times = [line[key] for line in lines]
            panel.plot(times, rows, shape, color=color, label=label, markersize=5, zorder=3)
        panel.set_xscale("log")
        panel.set_title(f"ε = {epsilon:g}")
        panel.tick_params(axis="y", length=0)
        plain(panel)
        panel.grid(axis="y", visible=False)
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    panels[0].set_yticks(range(len(names)), [named(name) for name in names])
    figure.supxlabel("CPU time per step, microseconds (left is better)", fontsize=9)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(marks), frameon=False)
    figure.savefig(path, metadata={"Date": None})


def write_scaling(path, scaling):
    """A panel for each size, log-log."""
    start("scaling")
    axes = [axis for axis in AXES if any(line["axis"] == axis for line in scaling)]
    figure = Figure(figsize=(11, 4.6), layout="constrained")
    panels = figure.subplots(1, len(axes), sharey=True, squeeze=False)[0]
    for panel, axis in zip(panels, axes, strict=True):
        lines = [line for line in scaling if line["axis"] == axis]
        values = [line["value"] for line in lines]
        for key, (label, color, shape, dashes) in CURVES.items():
            times = [line[key] for line in lines]
            panel.plot(
                values,
                times,
                shape,
                linestyle=dashes,
                color=color,
                label=label,
                markersize=4,
                linewidth=1.2,
            )
        panel.set_xscale("log", base=2)
        panel.set_yscale("log")
        panel.set_xticks(values, [short(value) for value in values])
        panel.minorticks_off()
        panel.set_xlabel(f"{AXES[axis]} (synthetic records)")
        plain(panel)
    panels[0].set_ylabel("CPU time per step, microseconds")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def named(name):
    """A set; those that are not real have only its shape."""
    return name if name.endswith("(real)") else f"{name}-shaped (synthetic)"


def short(value):
    """A number for a tick."""
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
