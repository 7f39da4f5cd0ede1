"""The table of promised accuracy, tests/tolerances.csv, and the assertion that executes it.

Several lines for one quantity add up. `scale` is a product of the factors below, by spaces:

    1        one
    n, k     elements of the row, level of a top-k
    1/alpha  one over |alpha|
    1+y      1 + |exact result|
    near     |y| + the distance of y to its nearest element + |alpha|
    z        1 + the distance of the threshold to its nearest element, over |alpha|
    D        sum_j e^{-|x_i - x_j| / |alpha|} at element i; sum(D) over the row
    max|g|   of the incoming gradient, or of the tangent; sum|g| likewise
    L        the largest derivative of an output in its level
    max|v|   of the permuted values; sum|w| of the weights
    J|g|     the absolute Jacobian applied to |g|
    size     the sum of the absolute terms of a sum
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

TABLE = Path(__file__).parent.parent / "tolerances.csv"


class Term(NamedTuple):
    """One line of the table."""

    bound: float
    scale: str
    reason: str


def _load(path: Path) -> dict[tuple[str, str, str], list[Term]]:
    table = defaultdict(list)
    with path.open(newline="") as lines:
        for line in csv.DictReader(lines):
            key = line["operation"], line["dtype"], line["quantity"]
            table[key].append(Term(float(line["bound"]), line["scale"], line["reason"]))
    return dict(table)


_TERMS = _load(TABLE)


def _near(y: np.ndarray, x: np.ndarray, alpha: float) -> np.ndarray:
    edges = np.concatenate(([-np.inf], np.sort(x), [np.inf]))
    above = np.clip(np.searchsorted(edges, y), 1, edges.size - 1)
    with np.errstate(invalid="ignore"):
        distance = np.minimum(np.abs(y - edges[above - 1]), np.abs(edges[above] - y))
    return np.abs(y) + distance + abs(alpha)


# What each factor is, from the arguments of `allowed`.
_FACTORS: dict[str, Callable[[dict[str, Any]], ArrayLike]] = {
    "1": lambda of: 1,
    "n": lambda of: of["n"],
    "k": lambda of: of["k"],
    "1/alpha": lambda of: 1 / abs(of["alpha"]),
    "1+y": lambda of: 1 + np.abs(of["y"]),
    "near": lambda of: _near(of["y"], of["x"], of["alpha"]),
    "z": lambda of: of["z"],
    "D": lambda of: of["D"],
    "sum(D)": lambda of: np.sum(of["D"]),
    "max|g|": lambda of: np.max(np.abs(of["g"])),
    "sum|g|": lambda of: np.sum(np.abs(of["g"])),
    "max|v|": lambda of: np.max(np.abs(of["v"])),
    "L": lambda of: of["L"],
    "sum|w|": lambda of: np.sum(np.abs(of["w"])),
    "J|g|": lambda of: of["Jg"],
    "size": lambda of: of["size"],
}


def allowed(op: str, dtype: DTypeLike, quantity: str, **scales: Any) -> np.ndarray:
    """The error that the table allows. `scales` are the quantities its factors are made of."""
    total = np.longdouble(0)
    for term in _TERMS[op, np.dtype(dtype).name, quantity]:
        factors = [np.asarray(_FACTORS[name](scales)) for name in term.scale.split()]
        total = total + term.bound * np.prod(np.broadcast_arrays(*factors), axis=0)
    return total


def assert_within(
    op: str,
    dtype: DTypeLike,
    quantity: str,
    got: ArrayLike,
    want: ArrayLike,
    *,
    case: str = "",
    **scales: Any,
) -> None:
    """Fails where got is further from want than the table allows, naming the worst element."""
    got, want = np.asarray(got, np.longdouble), np.asarray(want, np.longdouble)
    assert got.shape == want.shape, f"{op} {quantity} {case}: shape {got.shape}, not {want.shape}"
    limit = np.broadcast_to(allowed(op, dtype, quantity, y=want, **scales), want.shape)
    with np.errstate(invalid="ignore"):
        error = np.where((got == want) | (np.isnan(got) & np.isnan(want)), 0, np.abs(got - want))
        wrong = ~(error <= limit) | np.isinf(error)
    if wrong.any():
        excess = np.where(np.isfinite(error), error / limit, np.inf)
        i = np.unravel_index(np.argmax(np.where(wrong, excess, 0)), want.shape)
        raise AssertionError(
            f"{op} {np.dtype(dtype).name} {quantity} {case}: {np.count_nonzero(wrong)} of "
            f"{want.size} out of bounds; worst at {tuple(int(j) for j in i)}: got {got[i]!s}, "
            f"want {want[i]!s}, error {float(error[i]):.2e} > {float(limit[i]):.2e}"
        )
