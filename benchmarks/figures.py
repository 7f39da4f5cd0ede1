"""The figures of the paper from our measurements: time and memory against n, errors of the sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from cases import BACKWARD, FORWARD
from matplotlib.axes import Axes
from measure import OK
from subjects import OURS

# One look per library in every figure; ours is the thick one.
STYLES: dict[str, dict[str, Any]] = {
    OURS: {"color": "#0b5fa5", "marker": "o", "linewidth": 2.6, "zorder": 5},
    "torch.softmax": {"color": "#555555", "marker": "s", "linestyle": "--"},
    "torch.topk": {"color": "#999999", "marker": "D", "linestyle": "--"},
    "torch.sort": {"color": "#555555", "marker": "s", "linestyle": "--"},
    "torch.argsort twice": {"color": "#999999", "marker": "D", "linestyle": "--"},
    "torchsort": {"color": "#d1582a", "marker": "^"},
    "difftopk": {"color": "#2b8a57", "marker": "v"},
    "difftopk SoftSort": {"color": "#a23b8f", "marker": "P"},
    "difftopk NeuralSort": {"color": "#c29a12", "marker": "X"},
    "diffsort": {"color": "#2b8a57", "marker": "v"},
}
SMALLEST_PEAK = 5e5  # bytes: below it the resident set is noise
EXACT = 1e-17  # where an error of zero is drawn
SIZE = {"linewidth": 1.5, "markersize": 5}


def draw(records: Sequence[Any], errors: Sequence[Sequence[Any]], out: Path) -> None:
    """All figures, as PNG into `out`."""
    plt.rcParams.update({"font.size": 10, "axes.grid": True, "grid.alpha": 0.3, "figure.dpi": 130})
    for k, name in (("n/2", "topk_half"), ("5", "topk_5")):
        _sweep(records, "soft_topk", f"sweep k = {k}", f"Soft top-k, k = {k}", out / f"{name}.png")
    for operation, title in (("soft_sort", "Soft sort"), ("soft_rank", "Soft rank")):
        _sweep(records, operation, "sweep", title, out / f"{operation}.png")
    _errors(errors, out / "error.png")


def _sweep(records: Sequence[Any], operation: str, group: str, title: str, path: Path) -> None:
    """Four panels: time above, memory below; forward on the left, with backward on the right."""
    chosen = [
        r
        for r in records
        if (r.case.operation, r.case.group) == (operation, group) and r.status == OK
    ]
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.2), sharex=True, sharey="row")
    for column, mode in enumerate((FORWARD, BACKWARD)):
        here = [r for r in chosen if r.mode == mode]
        _lines(axes[0, column], here, lambda r: 1e3 * r.seconds)
        _lines(axes[1, column], here, lambda r: r.peak / 1e6 if r.peak >= SMALLEST_PEAK else None)
        axes[0, column].set_title(mode)
        axes[1, column].axhline(SMALLEST_PEAK / 1e6, color="#bbbbbb", linewidth=0.8)
        axes[1, column].set_xlabel("n")
    axes[0, 0].set_ylabel("time of a call, ms")
    axes[1, 0].set_ylabel("peak memory of a call, MB")
    axes[1, 0].annotate(
        "below this line: not resolved",
        (0.98, SMALLEST_PEAK / 1e6),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        color="#777777",
        fontsize=8,
    )
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.suptitle(
        f"{title}: one row of n, float32, 2 threads, alpha = 0.1 sd\n"
        "lines end where a call is stopped by the time limit or out of memory",
        fontsize=11,
    )
    if handles:
        figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.tight_layout(rect=(0, 0.03 + 0.03 * math.ceil(len(labels) / 3), 1, 1))
    figure.savefig(path)
    plt.close(figure)


def _lines(panel: Axes, records: Sequence[Any], value: Callable[[Any], float | None]) -> None:
    for library in dict.fromkeys(r.library for r in records):
        points = [(r.case.n, value(r)) for r in records if r.library == library]
        points = [(n, y) for n, y in points if y]
        if points:
            look = {**SIZE, **STYLES.get(library, {})}
            panel.loglog(*zip(*points, strict=True), label=library, **look)


def _errors(errors: Sequence[Sequence[Any]], path: Path) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), sharey=True)
    for panel, against in zip(axes, ("n", "k"), strict=True):
        here = [row for row in errors if row[0] == against and row[6] == OK]
        for library, dtype in dict.fromkeys((row[1], row[2]) for row in here):
            mine = [row for row in here if (row[1], row[2]) == (library, dtype)]
            xs = [row[3] if against == "n" else row[4] for row in mine]
            ys = [max(float(row[5]), EXACT) for row in mine]
            look = {**SIZE, **STYLES[library]}
            if dtype == "float64":
                look |= {"linestyle": ":", "markerfacecolor": "white"}
            panel.loglog(xs, ys, label=f"{library}, {dtype}", **look)
        panel.set_xlabel(against)
        panel.axhline(EXACT, color="#bbbbbb", linewidth=0.8)
    one_n = next((row[3] for row in errors if row[0] == "k"), "")
    axes[0].set_title("k = n/2")
    axes[1].set_title(f"n = {one_n}")
    axes[0].set_ylabel("|sum p - k|")
    axes[0].annotate(
        "exactly k",
        (0.02, EXACT),
        xytext=(0, 7),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        color="#777777",
        fontsize=9,
    )
    handles, labels = axes[1].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="lower center", ncols=3, frameon=False)
    figure.suptitle("Error of the sum of a soft top-k mask, one row, alpha = 0.1 sd")
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(path)
    plt.close(figure)
