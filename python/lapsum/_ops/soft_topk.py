"""Soft top-k: a mask in [0, 1] that sums to k."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_topk(
    x: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
    hard: bool = False,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """Soft top-k along an axis: ``p[i] = F((x[i] - b) / alpha)`` with b such that p sums to k.

    As alpha goes to 0 p becomes the 0/1 mask of the k largest elements. k need not be an integer.
    No sort is involved: O(n) expected for each k.

    Args:
        x: array (..., n) of float16, float32 or float64. An element at -inf (+inf for the
            smallest) is never chosen.
        k: how many to choose, any real in [0, n]; a number, or an array that broadcasts with the
            batch shape (the shape of x without `dim`). Numbers of an array beyond [0, n] saturate.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape. A negative alpha reverses the direction.
        dim: the axis of the rows.
        axis: another name for dim.
        largest: choose the largest elements, else the smallest.
        hard: return the 0/1 mask of the k (rounded) first elements, ties taken by index; the
            gradient, where there is one, stays that of the soft mask (straight-through).
        weights: how many times each element counts, w >= 0, broadcasts to the shape of x: p is such
            that w * p sums to k. A k above the sum of w takes all. Not together with `hard`.
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything, and its p is 0.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array p in [0, 1] of the dtype of x; the shape of x (broadcast with k and alpha).

    >>> import numpy as np, lapsum
    >>> x = np.array([0.5, 3.0, -1.0, 0.6])
    >>> lapsum.soft_topk(x, 2, 0.01).round(2)
    array([0., 1., 0., 1.])
    >>> p = lapsum.soft_topk(x, 2.5, 1.0)
    >>> p.round(2), round(float(p.sum()), 9)
    (array([0.66, 0.97, 0.17, 0.7 ]), 2.5)

    Several k at once, for each row of a batch:

    >>> masks = lapsum.soft_topk(np.ones((2, 1, 4)), np.array([1.0, 2.0, 3.0]))
    >>> masks.shape
    (2, 3, 4)
    """
    return operation("soft_topk", x, k, alpha).value(
        x,
        k,
        alpha,
        flags=(bool(largest),),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
        hard=hard,
    )


def soft_topk_vjp(
    x: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, ...]:
    """Gradients of ``(g * soft_topk(x, k, alpha)).sum()`` with respect to x, k and alpha.

    Each gradient has the shape of its argument; g has the shape of the result. With weights
    their gradient comes last.

    >>> import numpy as np, lapsum
    >>> x, g = np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 0.0])
    >>> gx, gk, galpha = lapsum.soft_topk_vjp(x, 1.5, 1.0, g)
    >>> gx.round(3), round(float(gk), 3)
    (array([ 0.151, -0.1  , -0.051]), 0.643)
    """
    return operation("soft_topk", x, k, alpha, g).vjp(
        x,
        k,
        alpha,
        g,
        flags=(bool(largest),),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_topk_jvp(
    x: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dk: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
    weights: ArrayLike | None = None,
    dweights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_topk(x, k, alpha)`` along (dx, dk, dalpha); None stands for zero.

    >>> import numpy as np, lapsum
    >>> x = np.array([1.0, 0.0, 3.0])
    >>> dp = lapsum.soft_topk_jvp(x, 1.5, 1.0, dk=1.0)
    >>> round(float(dp.sum()), 9)
    1.0
    """
    return operation("soft_topk", x, k, alpha, dx).jvp(
        x,
        k,
        alpha,
        dx,
        dk,
        dalpha,
        flags=(bool(largest),),
        dim=dim,
        axis=axis,
        weights=weights,
        dweights=dweights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
