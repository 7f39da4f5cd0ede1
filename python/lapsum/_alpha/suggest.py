"""An alpha for the data at hand, from how much of the choice or the order should be decided."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lapsum._numpy.layout import axis_of
from lapsum._ops.lap_kernel import lap_kernel
from lapsum._ops.soft_kth_value import soft_kth_value

Array = NDArray[np.float64]

_OP = "suggest_alpha"
_FURTHEST = 1e6  # alpha is sought within this factor of the standard deviation, both ways
_HALVINGS = 40  # of the logarithm of that range: 2.5e-11 relative


def suggest_alpha(
    x: ArrayLike,
    k: ArrayLike | None = None,
    *,
    sharpness: float = 0.9,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
) -> Any:
    """The alpha at which the top k, or the order, of each row is decided to the share `sharpness`.

    With k: an element with probability p is undecided to the share 2 min(p, 1 - p), which is
    e^(-|b - x| / alpha) for the threshold b. Together they are the expected number of elements in
    transition. It grows with alpha from 0 (no gap is 0) to 2 min(k, n - k), and the alpha returned
    is the one where it is (1 - sharpness) of that. As long as the threshold parts the k largest
    from the rest, (1 + sharpness) / 2 of the mask lies on them, for k up to n / 2.

    Without k (ranks, sorting, permutations) the same for pairs: two elements are undecided to the
    share e^(-|x_i - x_j| / alpha), and (1 - sharpness) is the mean of that over all pairs.

    The alpha is kept within a factor of 1e6 of the standard deviation of the row: ties at the
    threshold may leave more undecided than was asked for. A row of equal values gives 1. Infinite
    elements are left out. There is no gradient; it costs about 40 evaluations, so ask for it once
    or now and then, not in every step, and for a few rows of a large batch.

    Args:
        x: array or torch tensor (..., n).
        k: how many are to be chosen, in (0, n): a number, or an array that broadcasts with the
            batch shape, in which other values give NaN. None for an order.
        sharpness: the share that is decided, in (0, 1): near 1 is hard, near 0 is soft.
        dim: the axis of the rows.
        axis: another name for dim.
        largest: k counts the largest elements, else the smallest.

    Returns:
        float64 array, or tensor, of the batch shape (broadcast with k): an alpha for each row.

    >>> import numpy as np, lapsum
    >>> x = np.array([1.0, 3.0, 0.5, 2.5, 4.0])
    >>> alpha = lapsum.suggest_alpha(x, k=2)
    >>> round(float(alpha), 4)
    0.1553
    >>> lapsum.soft_topk(x, 2, alpha).round(2)            # 95 % on the two largest
    array([0. , 0.9, 0. , 0.1, 1. ])
    """
    values, levels = _numbers(x), None if k is None else _numbers(k)
    if values.ndim == 0:
        raise ValueError(f"{_OP}: x must have at least one dimension, got a single number")
    if not 0 < sharpness < 1:
        raise ValueError(f"{_OP}: sharpness must be in (0, 1), got sharpness={sharpness:g}")
    rows = np.moveaxis(values, axis_of(_OP, dim, axis, values.ndim), -1)
    rows, undecided = _order(rows) if levels is None else _choice(rows, levels, largest)
    alpha = _solve(rows, undecided, 1 - sharpness)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        from lapsum._torch.precision import wide

        return torch.as_tensor(alpha, dtype=wide(x.device), device=x.device)
    return alpha


def _numbers(value: Any) -> Array:
    """As float64, whatever the front end."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        value = value.detach().cpu().double().numpy()
    return np.asarray(value, np.float64)


Undecided = Callable[[Array], Array]


def _choice(rows: Array, levels: Array, largest: bool) -> tuple[Array, Undecided]:
    """The rows for each k, and the share of elements that are undecided at an alpha."""
    n = rows.shape[-1]
    if levels.ndim == 0 and not 0 < levels < n:
        raise ValueError(f"{_OP}: k must be in (0, n), got k={levels:g} with n={n}")
    levels = np.where((levels > 0) & (levels < n), levels, np.nan)
    shape = np.broadcast_shapes(rows.shape[:-1], levels.shape)
    rows, levels = np.broadcast_to(rows, (*shape, n)), np.broadcast_to(levels, shape)
    certain = np.equal(rows, np.inf if largest else -np.inf)
    first = levels - certain.sum(-1)
    most = 2 * np.minimum(first, np.isfinite(rows).sum(-1) - first)

    def share(alpha: Array) -> Array:
        b = soft_kth_value(rows, levels, alpha, largest=largest)
        e = np.exp(-np.abs(b[..., None] - rows) / alpha[..., None])
        return np.where(most > 0, e.sum(-1) / most, np.nan)

    return rows, share


def _order(rows: Array) -> tuple[Array, Undecided]:
    """The rows, and the share of pairs that are undecided at an alpha."""
    weights = np.isfinite(rows).astype(np.float64)
    inside = np.where(weights > 0, rows, 0.0)
    n = weights.sum(-1)

    def share(alpha: Array) -> Array:
        sums = lap_kernel(inside, weights, inside, alpha)  # each element with itself: 1
        return ((sums - 1) * weights).sum(-1) / np.maximum(n * (n - 1), 1)

    return rows, share


def _solve(rows: Array, undecided: Undecided, want: float) -> Array:
    """Halves the logarithm of the range of alpha: `undecided` grows with alpha."""
    finite = np.isfinite(rows)
    unknown = np.isnan(rows).any(-1)
    spread = np.where(finite, rows, np.nan)
    counted = np.maximum(finite.sum(-1), 1)
    mean = np.nansum(spread, -1) / counted
    scale = np.sqrt(np.nansum((spread - mean[..., None]) ** 2, -1) / counted)
    flat = (scale == 0) | unknown
    middle = np.log(np.where(flat, 1.0, scale))
    low, high = middle - np.log(_FURTHEST), middle + np.log(_FURTHEST)
    share = middle
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        share = undecided(np.exp(middle))
        low, high = np.where(share < want, middle, low), np.where(share < want, high, middle)
    alpha = np.where(flat, 1.0, np.exp(middle))
    return np.where(unknown | (np.isnan(share) & ~flat), np.nan, alpha)
