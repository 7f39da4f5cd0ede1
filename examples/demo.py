"""LapSum on one short row: hard and soft results with their gradients, as tables and pictures.

Run `python examples/demo.py [--out DIR]`. The pictures need matplotlib.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pictures
from numpy.typing import NDArray

import lapsum

Array = NDArray[np.float64]
Columns = tuple[str, Array]  # name, numbers
Line = tuple[str, Array, Array]  # label, values, gradient

ROW = np.array([1.0, 3.0, 0.5, 2.5, 4.0])
ALPHAS = (0.1, 0.5, 1.0, 3.0)
K = 2
WATCHED = 1  # the element 3.0: the second largest, just inside the top 2
POSITION = 3  # where it stands in ascending order
PAYLOAD = np.array([10.0, 20.0, 30.0, 40.0, 50.0])  # carried along by soft_permute
ELEMENTS: Columns = ("x", ROW)
POSITIONS: Columns = ("position", np.arange(ROW.size, dtype=float))


def rounded(value: float, digits: int = 2) -> float:
    """To print: no minus in front of a zero."""
    return round(float(value), digits) + 0.0


def numbers(values: Iterable[float]) -> str:
    return "".join(f"{rounded(value):6.2f}" for value in values)


def one_hot(index: int) -> Array:
    return np.eye(ROW.size)[index]


def heading(title: str, explanation: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}\n{explanation}\n")


def print_lines(
    value_name: str, columns: Columns, gradient_name: str, lines: Sequence[Line]
) -> None:
    """Values on the left, the gradient of one of them on the right, hard first."""
    width = 6 * ROW.size
    left, right = ("".join(f"{value:6g}" for value in part) for part in (columns[1], ROW))
    print(f"{'':12} {value_name:<{width}}|   {gradient_name}")
    print(f"{columns[0]:10} {left}  | {right}    sum")
    for label, values, gradient in lines:
        print(f"{label:10} {numbers(values)}  | {numbers(gradient)} {numbers([gradient.sum()])}")


def soft_lines(soft: Callable[[float], tuple[Array, Array]]) -> list[Line]:
    return [(f"alpha {alpha:<4g}", *soft(alpha)) for alpha in ALPHAS]


def show_rank() -> None:
    heading("soft_rank", "How many of the other values lie below each one: 0 is the smallest.")

    def soft(alpha: float) -> tuple[Array, Array]:
        gx, _ = lapsum.soft_rank_vjp(ROW, alpha, one_hot(WATCHED))
        return lapsum.soft_rank(ROW, alpha), gx

    hard = ROW.argsort().argsort().astype(float)
    lines = [("hard", hard, np.zeros(ROW.size)), *soft_lines(soft)]
    print_lines("rank of each x", ELEMENTS, f"d (rank of {ROW[WATCHED]}) / dx", lines)
    print("\nRaising every x by the same amount changes no rank: each gradient sums to 0.")


def show_sort() -> None:
    heading("soft_sort", "The values in ascending order.")

    def soft(alpha: float) -> tuple[Array, Array]:
        gx, _ = lapsum.soft_sort_vjp(ROW, alpha, one_hot(POSITION))
        return lapsum.soft_sort(ROW, alpha), gx

    lines = [("hard", np.sort(ROW), one_hot(WATCHED)), *soft_lines(soft)]
    print_lines("value at each position", POSITIONS, f"d sorted[{POSITION}] / dx", lines)
    print("\nRaising every x by 1 raises each sorted value by 1: each gradient sums to 1.")
    print("A large alpha spreads the result beyond the smallest and the largest x.")


def show_topk() -> None:
    heading("soft_topk", f"A mask of the {K} largest. It sums to k = {K} for every alpha.")

    def soft(alpha: float) -> tuple[Array, Array]:
        gx, _, _ = lapsum.soft_topk_vjp(ROW, K, alpha, one_hot(WATCHED))
        return lapsum.soft_topk(ROW, K, alpha), gx

    lines = [("hard", hard_topk(), np.zeros(ROW.size)), *soft_lines(soft)]
    print_lines("p of each x", ELEMENTS, f"d (p of {ROW[WATCHED]}) / dx", lines)
    print("\nThe hard mask has no gradient to learn from. The soft one says: raise 3.0 or lower")
    print("its rivals. The pull is strongest between the values next to the threshold.")


def hard_topk() -> Array:
    smallest_chosen = np.sort(ROW)[-K]
    return (smallest_chosen <= ROW).astype(float)


def show_log_topk() -> None:
    far = int(ROW.argmin())
    heading(
        "log_soft_topk",
        f"The logarithm of the mask, here for {ROW[far]}, the value furthest from being chosen.\n"
        "It still has a gradient where p itself has become 0.",
    )
    print(f"{'':14}{'p':>8}{'log p':>11}  |  d (log p of {ROW[far]}) / dx")
    print(f"{'':35}| " + "".join(f"{value:8.2f}" for value in ROW) + "     sum")
    for alpha in (1.0, 0.1, 0.001):
        p = lapsum.soft_topk(ROW, K, alpha)[far]
        log_p = lapsum.log_soft_topk(ROW, K, alpha)[far]
        gx, _, _ = lapsum.log_soft_topk_vjp(ROW, K, alpha, one_hot(far))
        gradient = "".join(f"{rounded(value):8.2f}" for value in (*gx, gx.sum()))
        print(f"alpha {alpha:<8g}{p:8.1e}{log_p:11.2f}  | {gradient}")


def show_permutation() -> None:
    heading(
        "soft_permutation",
        "How much of each element (column) stands at each position (row), smallest first.\n"
        "Every row and every column sums to 1.",
    )
    n = ROW.size
    matrices = [("hard", np.eye(n)[ROW.argsort()])]
    matrices += [(f"alpha {a:g}", lapsum.soft_permutation(ROW, a)) for a in ALPHAS]
    for start in range(0, len(matrices), 3):
        print_matrices(matrices[start : start + 3])

    def soft(alpha: float) -> tuple[Array, Array]:
        entry = np.outer(one_hot(POSITION), one_hot(WATCHED))
        gx, _ = lapsum.soft_permutation_vjp(ROW, alpha, entry)
        return lapsum.soft_permutation(ROW, alpha)[POSITION], gx

    lines = [("hard", one_hot(WATCHED), np.zeros(n)), *soft_lines(soft)]
    print_lines(f"row {POSITION} of P", ELEMENTS, f"d P[{POSITION}, {WATCHED}] / dx", lines)


def print_matrices(matrices: Sequence[tuple[str, Array]]) -> None:
    """Small matrices side by side, the elements above their columns."""
    cell = 5
    width = cell * ROW.size
    print(("   " + "".join(f"  {name:<{width}}" for name, _ in matrices)).rstrip())
    head = "".join(f"{value:{cell}.1f}" for value in ROW)
    print(" x " + "  ".join([head] * len(matrices)))
    for i in range(ROW.size):
        rows = ["".join(f"{entry:{cell}.2f}" for entry in matrix[i]) for _, matrix in matrices]
        print(f"{i:2} " + "  ".join(rows))
    print()


def show_permute() -> None:
    heading(
        "soft_permute",
        "P applied to other numbers without forming P: every x carries a payload, and the\n"
        f"payloads come out in the order of x. Payloads: {numbers(PAYLOAD)}",
    )

    def soft(alpha: float) -> tuple[Array, Array]:
        g = one_hot(POSITION)
        _, gvalues, _ = lapsum.soft_permute_vjp(ROW, PAYLOAD, alpha, g)
        return lapsum.soft_permute(ROW, PAYLOAD, alpha), gvalues

    lines = [("hard", PAYLOAD[ROW.argsort()], one_hot(WATCHED)), *soft_lines(soft)]
    print_lines("payload at each position", POSITIONS, f"d permuted[{POSITION}] / dpayload", lines)
    print(f"\nThe gradient in the payload is row {POSITION} of the matrix above.")


def show_other_gradients() -> None:
    heading(
        "gradients in k and alpha",
        f"They reach every argument. Here: p of {ROW[WATCHED]}, against finite differences.",
    )
    h = 1e-5

    def p(k: float, alpha: float) -> float:
        return float(lapsum.soft_topk(ROW, k, alpha)[WATCHED])

    print(f"{'':10}{'d p / dk':>12}{'difference':>14}{'d p / dalpha':>18}{'difference':>14}")
    for alpha in ALPHAS:
        _, gk, galpha = lapsum.soft_topk_vjp(ROW, K, alpha, one_hot(WATCHED))
        by_k = (p(K + h, alpha) - p(K - h, alpha)) / (2 * h)
        by_alpha = (p(K, alpha + h) - p(K, alpha - h)) / (2 * h)
        print(f"alpha {alpha:<4g}{gk:12.6f}{by_k:14.6f}{galpha:18.6f}{by_alpha:14.6f}")


def show_all() -> None:
    print(f"One row, ordered hard and softly. x = {numbers(ROW)}")
    show_rank()
    show_sort()
    show_topk()
    show_log_topk()
    show_permutation()
    show_permute()
    show_other_gradients()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder of the pictures")
    out = parser.parse_args().out
    show_all()
    heading("pictures", "The same row, and the mask of a longer one as alpha shrinks:")
    for path in pictures.draw_all(out, ROW, K, ALPHAS):
        print(f"  {path}")


if __name__ == "__main__":
    main()
