"""One short row, ordered hard and softly, then descent; a picture if matplotlib is there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lapsum

_ROW = np.array([1.0, 3.0, 0.5, 2.5, 4.0])
_K = 2
_ALPHAS = (0.02, 0.1, 0.5, 2.0)
_WANTED = np.array([1.0, 0.0, 1.0, 0.0, 0.0])


def run(picture: Path) -> int:
    """Prints the demonstration, and saves the picture if it can be drawn."""
    print(f"x            {_numbers(_ROW)}")
    _table("soft_rank", "how many are smaller", lapsum.soft_rank)
    _table("soft_sort", "in ascending order", lapsum.soft_sort)
    _table("soft_topk", f"the {_K} largest", lambda x, a, **o: lapsum.soft_topk(x, _K, a, **o))
    _descend()
    try:
        _draw(picture)
        print(f"\np of every x against alpha: {picture}")
    except ImportError:
        print("\nmatplotlib is not installed: no picture")
    return 0


def _numbers(values: Any) -> str:
    return "".join(f"{value:7.2f}" for value in np.round(values, 2) + 0.0)


def _table(name: str, what: str, function: Callable[..., Any]) -> None:
    print(f"\n{name}: {what}")
    print(f"  hard       {_numbers(function(_ROW, 1.0, hard=True))}")
    for alpha in _ALPHAS:
        print(f"  alpha {alpha:<5g}{_numbers(function(_ROW, alpha))}")


def _descend() -> None:
    print("\ngradient descent on x until the soft top 2 are the first and the third:")
    x = _ROW.copy()
    for step in range(201):
        error = lapsum.soft_topk(x, _K, 0.5) - _WANTED
        if step in (0, 20, 50, 200):
            print(f"  step {step:<6d}{_numbers(x)}   p {_numbers(error + _WANTED)}")
        x -= 0.5 * lapsum.soft_topk_vjp(x, _K, 0.5, error)[0]


def _draw(picture: Path) -> None:
    from matplotlib.figure import Figure

    alphas = np.geomspace(0.01, 100, 300)
    p = lapsum.soft_topk(np.broadcast_to(_ROW, (alphas.size, _ROW.size)), _K, alphas)
    figure = Figure(figsize=(7, 4), layout="constrained")
    ax = figure.subplots()
    for i in np.argsort(-_ROW):
        ax.semilogx(alphas, p[:, i], lw=2, label=f"x = {_ROW[i]:g}")
    ax.axhline(_K / _ROW.size, color="#9A9A9A", lw=1, ls=":")
    ax.set(xlabel="alpha", ylabel="p", xlim=(0.01, 100), ylim=(-0.02, 1.02))
    ax.set_title(f"soft top {_K}: hard for a small alpha, k / n for a large one", loc="left")
    ax.legend(frameon=False)
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=120)
