"""What comes out: a line of CSV for every run, tables of mean ± deviation over seeds, a picture."""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

OURS = "LapSum"
COLOURS = {  # of methods by the first word of their names; ours is the thick blue one
    OURS: "#0b5fa5",
    "NeuralSort": "#c29a12",
    "SoftSort": "#a23b8f",
    "Sinkhorn": "#d1582a",
    "DiffSortNets": "#2b8a57",
}
OTHER = "#777777"
LOOK = {
    "font.size": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "grid.alpha": 0.3,
    "savefig.dpi": 90,
}

Run = dict[str, Any]  # "method", "setting" and "seed", then what was measured


def write(runs: Sequence[Run], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(runs[0]))
        writer.writeheader()
        writer.writerows(
            {key: f"{v:.5g}" if isinstance(v, float) else v for key, v in run.items()}
            for run in runs
        )


def spread(
    runs: Sequence[Run], method: str, setting: object, metric: str
) -> tuple[float, float | None]:
    """Mean and standard deviation over the seeds; NaN without runs, None for a single one."""
    found = [r[metric] for r in runs if (r["method"], r["setting"]) == (method, setting)]
    if not found:
        return math.nan, None
    return statistics.fmean(found), statistics.stdev(found) if len(found) > 1 else None


def names(runs: Sequence[Run], key: str) -> list[Any]:
    return list(dict.fromkeys(run[key] for run in runs))


def table(
    runs: Sequence[Run], metric: str, digits: int = 1, better: Callable[..., Any] | None = max
) -> str:
    """Markdown: a line for every method, a column for every setting; who is best, in the open.

    `better` is max or min, or None where there is nothing to win.
    """
    methods, settings = names(runs, "method"), names(runs, "setting")
    cells = {(m, s): spread(runs, m, s, metric) for m in methods for s in settings}
    means = {s: {m: cells[m, s][0] for m in methods} for s in settings}
    known = {s: {m: v for m, v in row.items() if not math.isnan(v)} for s, row in means.items()}
    winners = {s: better(row, key=row.__getitem__) if better else "" for s, row in known.items()}

    def cell(m: str, s: object) -> str:
        mean, deviation = cells[m, s]
        text = "" if math.isnan(mean) else f"{mean:.{digits}f}"
        text += "" if deviation is None else f" ± {deviation:.{digits}f}"
        return f"**{text}**" if winners[s] == m else text

    def lead(row: dict[str, float]) -> str:
        ours = [v for m, v in row.items() if m.startswith(OURS)]
        others = [v for m, v in row.items() if not m.startswith(OURS)]
        both = better and ours and others
        return f"{better(ours) - better(others):+.{digits}f}" if both else ""

    lines = [["", *map(str, settings)], ["---"] * (1 + len(settings))]
    lines += [[m, *(cell(m, s) for s in settings)] for m in methods]
    if better:
        lines.append(["*best*", *winners.values()])
        lines.append([f"*{OURS} minus the best other*", *map(lead, known.values())])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def curves(ax: Axes, runs: Sequence[Run], metric: str, places: Sequence[float]) -> None:
    """A line for every method over the settings, which lie at `places`, with deviations as bars."""
    drawn: list[str] = []
    for m in names(runs, "method"):
        values = [spread(runs, m, s, metric) for s in names(runs, "setting")]
        means, bars = [v[0] for v in values], [v[1] or 0 for v in values]
        look = _look(m)
        look["ls"] = "--" if look["color"] in drawn else "-"  # another variant of the same
        ax.errorbar(places, means, bars, label=m, marker="o", ms=4, capsize=2, **look)
        drawn.append(look["color"])


def bars(ax: Axes, runs: Sequence[Run], metric: str, setting: object) -> None:
    """A bar for every method in one setting; the axis does not begin at 0."""
    values = {m: spread(runs, m, setting, metric) for m in names(runs, "method")}
    values = {m: v for m, v in values.items() if not math.isnan(v[0])}
    means, deviations = [v[0] for v in values.values()], [v[1] or 0 for v in values.values()]
    colours = [_look(m)["color"] for m in values]
    ax.barh(list(values), means, xerr=deviations, color=colours, height=0.65, capsize=2)
    low, high = min(means), max(map(sum, zip(means, deviations, strict=True)))
    ax.set_xlim(max(0, low - 0.4 * (high - low) - 0.2), high + 0.1 * (high - low) + 0.1)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def shade(depth: float) -> tuple[float, ...]:
    """A blue of our own, the deeper the nearer to 1."""
    return tuple(matplotlib.colormaps["Blues"](0.3 + 0.7 * depth))


def _look(method: str) -> dict[str, Any]:
    first = method.split()[0].rstrip(",")
    return {"color": COLOURS.get(first, OTHER), "lw": 2.6 if first == OURS else 1.4}


def figure(width: float, height: float, panels: int) -> tuple[Figure, list[Axes]]:
    matplotlib.rcParams.update(LOOK)
    made = Figure(figsize=(width, height), layout="constrained")
    return made, list(made.subplots(1, panels, squeeze=False)[0])


def publish(
    name: str,
    chosen: argparse.Namespace,
    sources: dict[str, str],
    tables: dict[str, str],
    notes: Sequence[str],
    figure: Figure,
) -> None:
    """Prints the tables and writes them, with the picture, beside the lines of the runs."""
    given = ", ".join(f"{data} from {source}" for data, source in sources.items())
    head = f"{given}; {chosen.steps} steps, seeds {', '.join(map(str, chosen.seeds))}"
    parts = [head, *notes, *(f"{title}\n\n{text}" for title, text in tables.items())]
    (chosen.out / f"{name}.md").write_text("\n\n".join(parts) + "\n")
    path = chosen.out / f"{name}.png"
    figure.savefig(path)
    Image.open(path).quantize(64).save(path, optimize=True)  # a third of the size
    print("\n\n".join(parts))
    print(f"\n{chosen.out / name}.csv, .md, .png")
