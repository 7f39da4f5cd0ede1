"""Soft ranks: where each element stands among the others."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_rank(
    x: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    hard: bool = False,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """Soft ranks along an axis: ``rank[j] = sum over l != j of F((x[j] - x[l]) / alpha)``.

    Ranks count from 0, lie in [0, n - 1] and sum to n (n - 1) / 2. As alpha goes to 0 they become
    the hard ranks, ties sharing their mean. O(n log n).

    Args:
        x: array (..., n) of float16, float32 or float64.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape (the shape of x without `dim`). A negative alpha reverses the direction.
        dim: the axis of the rows.
        axis: another name for dim.
        descending: rank 0 goes to the largest element instead of the smallest.
        hard: return the hard result, ties taken by index; the gradient, where there is one, stays
            that of the soft result (straight-through).
        weights: how many times each element counts, w >= 0, broadcasts to the shape of x: rank[j]
            adds up w[l] F over the others.
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything, and its rank is 0.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array of the shape and dtype of x (broadcast with alpha).

    >>> import numpy as np, lapsum
    >>> x = np.array([0.5, 3.0, -1.0, 0.6])
    >>> lapsum.soft_rank(x, 0.01).round(2)
    array([1., 3., 0., 2.])
    >>> lapsum.soft_rank(x, 1.0).round(2)
    array([1.38, 2.9 , 0.22, 1.49])
    """
    return operation("soft_rank", x, alpha).value(
        x,
        alpha,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
        hard=hard,
    )


def soft_rank_vjp(
    x: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, ...]:
    """Gradients of ``(g * soft_rank(x, alpha)).sum()`` with respect to x and alpha.

    Each gradient has the shape of its argument; g has the shape of the result. With weights
    their gradient comes last.

    >>> import numpy as np, lapsum
    >>> gx, galpha = lapsum.soft_rank_vjp(np.array([0.0, 1.0]), 1.0, np.array([0.0, 1.0]))
    >>> gx.round(4)
    array([-0.1839,  0.1839])
    """
    return operation("soft_rank", x, alpha, g).vjp(
        x,
        alpha,
        g,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_rank_jvp(
    x: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    weights: ArrayLike | None = None,
    dweights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_rank(x, alpha)`` along (dx, dalpha); None stands for zero.

    >>> import numpy as np, lapsum
    >>> lapsum.soft_rank_jvp(np.array([0.0, 1.0]), 1.0, np.array([0.0, 1.0])).round(4)
    array([-0.1839,  0.1839])
    """
    return operation("soft_rank", x, alpha, dx).jvp(
        x,
        alpha,
        dx,
        dalpha,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        weights=weights,
        dweights=dweights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
