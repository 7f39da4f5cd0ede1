"""The pictures of the demo: how LapSum ranks, sorts, selects and permutes, and what alpha does.

Inputs are blue, results are vermilion, the hard operation is grey.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lapsum

Array = NDArray[np.float64]
Spot = tuple[float, float]

INPUT = "#0072B2"
RESULT = "#D55E00"
CURVE = "#222222"
FRAME = "#666666"
HARD = "#9A9A9A"
STYLE: dict[str, Any] = {
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.titlelocation": "left",
    "axes.titlepad": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FRAME,
    "axes.labelcolor": CURVE,
    "xtick.color": FRAME,
    "ytick.color": FRAME,
    "text.color": CURVE,
    "figure.facecolor": "white",
    "savefig.dpi": 150,
}
SOFTNESS = 0.5  # of the pictures that explain a construction
LONGER_ROW = np.array([4.0, 3.2, 2.9, 2.4, 1.9, 1.7, 1.1, 0.6, 0.1, -0.5, -1.2, -2.0])
LONGER_K = 4  # the gap at this threshold is 0.5, the standard deviation of the row 1.8
SHRINKING = {
    20.0: r"$\gg$ spread",
    2.0: r"$\approx$ spread",
    0.5: "= gap",
    0.1: "= gap / 5",
    0.02: r"$\ll$ gap",
}


def draw_all(folder: Path, row: Array, k: float, alphas: Sequence[float]) -> list[Path]:
    """Draws every picture into `folder` and returns where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        figures = {
            "soft_rank": soft_rank(row, SOFTNESS),
            "soft_sort": soft_sort(row, SOFTNESS),
            "soft_topk": soft_topk(row, k, SOFTNESS),
            "topk_alpha": topk_alpha(LONGER_ROW, LONGER_K, SHRINKING),
            "soft_permutation": soft_permutation(row, alphas),
        }
        paths = [folder / f"{name}.png" for name in figures]
        for path, figure in zip(paths, figures.values(), strict=True):
            figure.savefig(path)
    return paths


def soft_rank(row: Array, alpha: float) -> Figure:
    """Up from each value to the curve, and over to its rank."""
    figure, ax, limits = _construction(row)
    x = _points(row, limits)
    ranks = lapsum.soft_rank(row, alpha)
    floor = -0.8
    ax.plot(x, lapsum.lap_sum(row, x, alpha) - 0.5, color=CURVE, lw=2.2, zorder=3)
    _draw_steps(ax, row, limits, -0.5)
    for value, rank in zip(row, ranks, strict=True):
        _draw_guide(ax, (value, floor), (value, rank), (limits[0], rank))
    ax.set(xlim=limits, ylim=(floor, row.size - 0.2))
    _label_axis(ax.xaxis, row, "g", INPUT, "the values")
    _label_axis(ax.yaxis, ranks, ".2f", RESULT, "their soft ranks")
    ax.set_title(rf"Soft rank ($\alpha$ = {alpha:g}): up to the curve, over to the rank")
    _label_curve(ax, row, r"LapSum $-$ 1/2", row.size - 0.5)
    return figure


def soft_sort(row: Array, alpha: float) -> Figure:
    """Over from each level to the curve, and down to the sorted value."""
    figure, ax, limits = _construction(row)
    x = _points(row, limits)
    levels = np.arange(row.size) + 0.5
    ordered = lapsum.soft_sort(row, alpha)
    floor = -0.3
    ax.plot(x, lapsum.lap_sum(row, x, alpha), color=CURVE, lw=2.2, zorder=3)
    _draw_steps(ax, row, limits, 0)
    for level, value in zip(levels, ordered, strict=True):
        _draw_guide(ax, (limits[0], level), (value, level), (value, floor))
    ax.set(xlim=limits, ylim=(floor, row.size + 0.3))
    _label_axis(ax.xaxis, ordered, ".2f", RESULT, "softly sorted")
    _label_axis(ax.yaxis, levels, "g", INPUT, "levels: position + 1/2")
    ax.set_title(rf"Soft sort ($\alpha$ = {alpha:g}): over to the curve, down to the value")
    _label_curve(ax, row, "LapSum", row.size)
    _label_axis(ax.secondary_xaxis("top").xaxis, row, "g", INPUT, "the values")
    return figure


def soft_topk(row: Array, k: float, alpha: float) -> Figure:
    """Above: level k gives the threshold b. Below: what lies beyond b of each value is its p."""
    figure = _figure(8, 6.6)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1, 1.3))
    limits = row.min() - 1.5, row.max() + 1.5
    x = _points(row, limits)
    b = float(lapsum.lap_sum_inverse(row, k, -alpha))
    above.plot(x, lapsum.lap_sum(row, x, -alpha), color=CURVE, lw=2.2, zorder=3)
    _draw_guide(above, (limits[0], k), (b, k), (b, -0.3))
    above.text(b - 0.1, 0.6, f"$b$ = {b:.2f}", color=RESULT, ha="right")
    above.set(xlim=limits, ylim=(-0.3, row.size + 0.3), ylabel="soft count above $b$")
    above.set_yticks(range(row.size + 1))
    above.get_yticklabels()[round(k)].set(color=INPUT, weight="bold")
    above.set_title(
        rf"Soft top-k ($\alpha$ = {alpha:g}): the level k = {k:g} gives the threshold $b$"
    )
    _draw_masses(below, row, lapsum.soft_topk(row, k, alpha), alpha, b, x)
    return figure


def topk_alpha(row: Array, k: int, alphas: dict[float, str]) -> Figure:
    """The mask over a row, largest first, as alpha shrinks from panel to panel."""
    figure = _figure(9, 3.2)
    panels = figure.subplots(1, len(alphas), sharey=True)
    ordered = np.sort(row)[::-1]
    position = np.arange(row.size)
    hard = (position < k).astype(float)
    for ax, (alpha, meaning) in zip(panels, alphas.items(), strict=True):
        p = lapsum.soft_topk(ordered, k, alpha)
        ax.bar(position, p, width=0.8, color=np.where(hard > 0, RESULT, INPUT))
        ax.stairs(hard, np.arange(row.size + 1) - 0.5, color=HARD, lw=1.2, ls=(0, (3, 2)))
        ax.set(xlim=(-0.7, row.size - 0.3), ylim=(0, 1.03), xticks=[], yticks=(0, 0.5, 1))
        ax.set_title(rf"$\alpha$ = {alpha:g}", loc="center", pad=24)
        ax.text(0.5, 1.05, meaning, transform=ax.transAxes, ha="center", color=FRAME, size=10)
    panels[0].axhline(k / row.size, color=CURVE, lw=1, ls=":")
    panels[0].text(row.size - 0.5, k / row.size + 0.02, "k / n", ha="right", va="bottom", size=10)
    panels[0].set_ylabel("mask p")
    figure.supxlabel(
        f"{row.size} values, largest first (dashed: the hard mask of k = {k})", size=11
    )
    return figure


def soft_permutation(row: Array, alphas: Sequence[float]) -> Figure:
    """Heat maps of the matrix as alpha shrinks from panel to panel."""
    figure = _figure(9, 2.95)
    panels = figure.subplots(1, len(alphas), sharey=True)
    colors = LinearSegmentedColormap.from_list("masses", ["#FFFFFF", "#F6B58A", RESULT])
    edges = np.arange(row.size + 1) - 0.5
    for ax, alpha in zip(panels, sorted(alphas)[::-1], strict=True):
        matrix = lapsum.soft_permutation(row, alpha)
        ax.pcolormesh(
            edges, edges, matrix, cmap=colors, vmin=0, vmax=1, edgecolor="#DDDDDD", lw=0.8
        )
        for (i, j), entry in np.ndenumerate(matrix):
            if entry >= 0.005:
                ax.text(j, i, f"{entry:.2f}", ha="center", va="center", size=8.5)
        ax.set_xticks(range(row.size), [f"{value:g}" for value in row], color=INPUT, weight="bold")
        ax.set(aspect="equal", ylim=(edges[-1], edges[0]), yticks=range(row.size))
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_title(rf"$\alpha$ = {alpha:g}", loc="center", pad=8)
    panels[0].set_ylabel("position")
    figure.supxlabel("the values", color=INPUT, size=11)
    return figure


# --- parts of pictures ---------------------------------------------------------------------------


def _figure(width: float, height: float) -> Figure:
    figure = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    return figure


def _construction(row: Array) -> tuple[Figure, Axes, Spot]:
    figure = _figure(8, 4.7)
    return figure, figure.subplots(), (row.min() - 1.5, row.max() + 1.9)


def _points(row: Array, limits: Spot) -> Array:
    """Where to evaluate a curve: a fine grid with the values themselves."""
    return np.sort(np.concatenate([np.linspace(*limits, 600), row]))


def _draw_guide(ax: Axes, start: Spot, corner: Spot, end: Spot) -> None:
    """From the axis of the input to the curve, and with an arrow to the axis of the result."""
    ax.plot(*zip(start, corner, strict=True), color=INPUT, lw=1.2)
    arrow = {"arrowstyle": "-|>", "color": RESULT, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", end, corner, arrowprops=arrow)
    ax.plot(*corner, "o", color=CURVE, ms=5, zorder=4)


def _draw_steps(ax: Axes, row: Array, limits: Spot, base: float) -> None:
    """The curve of the hard operation: it jumps by 1 at every value."""
    edges = np.concatenate([[limits[0]], np.sort(row), [limits[1]]])
    heights = base + np.arange(row.size + 1)
    ax.stairs(heights, edges, baseline=None, color=HARD, lw=1.2, ls=(0, (3, 2)))


def _label_curve(ax: Axes, row: Array, name: str, top: float) -> None:
    at = row.max() + 0.65
    ax.text(at, top - 0.62, name, weight="bold", ha="left")
    ax.text(at, top - 1.0, r"dashed: $\alpha \to 0$", color=FRAME, ha="left", size=10)


def _label_axis(axis: Any, ticks: Iterable[float], form: str, color: str, name: str) -> None:
    axis.set_ticks(list(ticks), [f"{tick:{form}}" for tick in ticks], color=color, weight="bold")
    axis.set_label_text(name, color=color)


def _draw_masses(ax: Axes, row: Array, p: Array, alpha: float, b: float, x: Array) -> None:
    """The Laplace densities around the values, one above the other; the part beyond b is shaded."""
    order = row.argsort()
    for base, at in enumerate(order):
        density = base + 0.8 * np.exp(-np.abs(x - row[at]) / alpha)
        ax.fill_between(x, base, density, where=x <= b, color=INPUT, alpha=0.18, lw=0)
        ax.fill_between(x, base, density, where=x >= b, color=RESULT, alpha=0.75, lw=0)
        ax.plot(x, density, color=CURVE, lw=1.2)
    ax.axvline(b, color=RESULT, lw=1.2)
    ax.set(ylim=(-0.05, row.size - 0.1), xlabel="x")
    masses = ax.secondary_yaxis("right")
    bases = np.arange(row.size) + 0.15
    ax.set_yticks(bases, [f"x = {row[at]:g}" for at in order], color=INPUT, weight="bold")
    masses.set_yticks(bases, [f"p = {p[at]:.2f}" for at in order], color=RESULT, weight="bold")
    for side in (ax, masses):
        side.tick_params(axis="y", length=0)
        side.spines[["left", "right"]].set_visible(False)
    ax.set_title(f"The mass of each value beyond $b$ is its p; together they make {p.sum():g}")
