"""The pictures of docs/choosing_alpha.md: what alpha decides, what it passes back, and annealing.

Run `python examples/choosing_alpha.py [--out DIR]`. Needs matplotlib.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from pictures import CURVE, HARD, INPUT, RESULT, STYLE

import lapsum

Array = NDArray[np.float64]

N, K = 1000, 100
CANDIDATES, CHOSEN = 100, 10
THIRD = "#009E73"


def transition() -> Figure:
    """How many of 1000 normal values are in transition, against alpha."""
    x = np.random.default_rng(0).normal(size=N)
    ordered = np.sort(x)
    gap = ordered[-K] - ordered[-K - 1]
    alphas = np.geomspace(1e-4, 1e2, 200)
    p = lapsum.soft_topk(np.broadcast_to(x, (alphas.size, N)), K, alphas)
    number = 2 * np.minimum(p, 1 - p).sum(-1)
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    ax = figure.subplots()
    ax.loglog(alphas, number, color=CURVE, lw=2.2)
    for name, length in (("gap at k", gap), ("spread", x.std())):
        ax.axvline(length, color=HARD, lw=1, ls=":")
        ax.text(length * 1.08, 0.12, name, color=HARD)
    for sharpness in (0.5, 0.9, 0.99):
        alpha = float(lapsum.suggest_alpha(x, K, sharpness=sharpness))
        count = (1 - sharpness) * 2 * K
        ax.plot(alpha, count, "o", color=RESULT)
        label = f"sharpness {sharpness}: {count:g} in transition\nalpha {alpha:.2g}"
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        ax.text(alpha * 1.25, count, label, color=RESULT, va="top", bbox=box)
    ax.axhline(2 * K, color=HARD, lw=1, ls=":")
    ax.text(1.2e-3, 2 * K * 1.15, "2 min(k, n - k): everything is open", color=HARD)
    ax.set(xlim=(1e-4, 1e2), ylim=(0.1, 700), xlabel="alpha", ylabel="elements in transition")
    ax.set_title(f"The {K} largest of {N} normal values")
    return figure


def gradient() -> Figure:
    """What reaches the values next to the threshold, near it and far from it."""
    x = np.sort(np.random.default_rng(0).normal(size=N))[::-1]
    alphas = np.geomspace(1e-4, 1e2, 200)
    watched = {K - 1: "the last one chosen", K - 31: "30 places above", K + 299: "300 places below"}
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    ax = figure.subplots()
    for (i, name), colour in zip(watched.items(), (RESULT, INPUT, THIRD), strict=True):
        slope = []
        for alpha in alphas:
            gx, _, _ = lapsum.soft_topk_vjp(x, K, alpha, np.eye(N)[i])
            slope.append(gx[i])
        ax.loglog(alphas, slope, color=colour, lw=2, label=name)
    chosen = float(lapsum.suggest_alpha(x, K))
    ax.axvline(chosen, color=CURVE, lw=1, ls=":")
    ax.text(chosen * 1.1, 300, "suggest_alpha(x, k)", color=CURVE)
    ax.set(xlim=(1e-4, 1e2), ylim=(1e-4, 1e3), xlabel="alpha", ylabel="d p / d x of the element")
    ax.set_title("The gradient of an element's own p")
    ax.legend(frameon=False, loc="upper right")
    return figure


def annealing() -> Figure:
    """A linear scorer learns which 10 of 100 to choose, from the soft mask alone."""
    steps = 300
    scores = np.random.default_rng(0).normal(size=(100, CANDIDATES))  # as the scorer's: spread 1
    good = float(np.median(lapsum.suggest_alpha(scores, CHOSEN)))
    ways: dict[str, tuple[Callable[[int], float], str, str]] = {
        "1, the spread": (lambda step: 1.0, INPUT, "-"),
        "0.001": (lambda step: 0.001, THIRD, "-"),
        f"{good:.2f}, as suggested": (lambda step: good, RESULT, "-"),
        f"from 1 to {good:.2f}": (lapsum.AlphaSchedule(1.0, good, steps).at, RESULT, "--"),
        "from 1 to 0.001": (lapsum.AlphaSchedule(1.0, 0.001, steps).at, THIRD, "--"),
    }
    figure = Figure(figsize=(8, 4.2), layout="constrained")
    ax = figure.subplots()
    for name, (alpha, colour, dashes) in ways.items():
        runs = np.stack([train(alpha, steps, seed) for seed in range(8)])
        mean = 100 * runs.mean(0)
        ax.plot(np.arange(steps), mean, color=colour, ls=dashes, lw=2, label=f"alpha {name}")
    ax.set(xlim=(0, steps), ylim=(0, 100), xlabel="step", ylabel="right among the 10 chosen, %")
    ax.set_title("Held-out precision of the hard choice, mean of 8 runs")
    ax.legend(frameon=False, loc="lower right", ncols=2)
    return figure


def train(alpha: Callable[[int], float], steps: int, seed: int) -> Array:
    """The precision of the hard top 10 after each step of descent on the soft one."""
    rng = np.random.default_rng(seed)
    features, rows, k, n = 20, 4, CHOSEN, CANDIDATES
    truth = rng.normal(size=features)

    def sample(count: int) -> tuple[Array, Array]:
        items = rng.normal(size=(count, n, features))
        noise = 0.5 * rng.normal(size=(count, n))
        relevant = lapsum.soft_topk(items @ truth + noise, k, 1.0, hard=True)
        return items, relevant

    test_items, test_relevant = sample(100)
    w, mean, square = rng.normal(size=features), np.zeros(features), np.zeros(features)
    w /= np.linalg.norm(w)
    precision = np.empty(steps)
    for step in range(steps):
        items, relevant = sample(rows)
        gx, _, _ = lapsum.soft_topk_vjp(items @ w, k, alpha(step), -relevant / (rows * k))
        gw = np.einsum("rn,rnf->f", gx, items)
        mean, square = 0.9 * mean + 0.1 * gw, 0.99 * square + 0.01 * gw**2  # Adam
        corrected = mean / (1 - 0.9 ** (step + 1)), square / (1 - 0.99 ** (step + 1))
        w -= 0.02 * corrected[0] / (np.sqrt(corrected[1]) + 1e-12)
        w /= np.linalg.norm(w)  # else the scale of the scores would do what alpha does
        chosen = lapsum.soft_topk(test_items @ w, k, 1.0, hard=True)
        precision[step] = (chosen * test_relevant).sum() / test_relevant.sum()
    return precision


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder of the pictures")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for draw in (transition, gradient, annealing):
            path = out / f"alpha_{draw.__name__}.png"
            draw().savefig(path)
            print(path)


if __name__ == "__main__":
    main()
