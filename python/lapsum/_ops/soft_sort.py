"""Soft sorting: the inverse of LapSum at the levels 1/2, 3/2, ..., n - 1/2."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_sort(
    x: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    hard: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """Soft sorting along an axis: element l is the b where ``lap_sum(x, b) = l + 1/2``.

    As alpha goes to 0 the result becomes the sorted row. A larger alpha spreads the ends: each
    element of the result answers to all of x. O(n log n).

    Args:
        x: array (..., n) of float16, float32 or float64.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape (the shape of x without `dim`). A negative alpha reverses the direction.
        dim: the axis of the rows.
        axis: another name for dim.
        descending: the largest element first.
        hard: return the hard result, ties taken by index; the gradient, where there is one, stays
            that of the soft result (straight-through).
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything. The positions left over at the end hold 0.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array of the shape and dtype of x (broadcast with alpha).

    >>> import numpy as np, lapsum
    >>> x = np.array([0.5, 3.0, -1.0, 0.6])
    >>> lapsum.soft_sort(x, 0.01).round(2)
    array([-1. ,  0.5,  0.6,  3. ])
    >>> lapsum.soft_sort(x, 1.0, descending=True).round(2)
    array([ 3.17,  1.19,  0.1 , -1.37])
    """
    return operation("soft_sort", x, alpha).value(
        x,
        alpha,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
        hard=hard,
    )


def soft_sort_vjp(
    x: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, Array]:
    """Gradients of ``(g * soft_sort(x, alpha)).sum()`` with respect to x and alpha.

    Each gradient has the shape of its argument; g has the shape of the result.

    >>> import numpy as np, lapsum
    >>> gx, galpha = lapsum.soft_sort_vjp(np.array([3.0, 1.0]), 0.1, np.array([1.0, 0.0]))
    >>> gx.round(4)  # the smallest value is the second element
    array([0., 1.])
    """
    return operation("soft_sort", x, alpha, g).vjp(
        x,
        alpha,
        g,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_sort_jvp(
    x: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    dim: int = -1,
    axis: int | None = None,
    descending: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_sort(x, alpha)`` along (dx, dalpha); None stands for zero.

    >>> import numpy as np, lapsum
    >>> lapsum.soft_sort_jvp(np.array([3.0, 1.0]), 0.1, np.array([1.0, 0.0])).round(4)
    array([0., 1.])
    """
    return operation("soft_sort", x, alpha, dx).jvp(
        x,
        alpha,
        dx,
        dalpha,
        flags=(bool(descending),),
        dim=dim,
        axis=axis,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
