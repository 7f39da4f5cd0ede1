"""Soft quantiles: the inverse of LapSum at the level q n."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_quantile(
    x: ArrayLike,
    q: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """Soft quantile along an axis: the b where ``lap_sum(x, b) = q n``. The median is q = 0.5.

    Args:
        x: array (..., n) of float16, float32 or float64.
        q: level in [0, 1]; a number, or an array that broadcasts with the batch shape (the shape
            of x without `dim`). Levels of an array beyond [0, 1] give infinities.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape. A negative alpha counts quantiles from the largest element.
        dim: the axis of the rows.
        axis: another name for dim.
        weights: how many times each element counts, w >= 0, broadcasts to the shape of x: n is the
            sum of w.
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything, and n is the number of the others.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array of the dtype of x; the batch shape (broadcast with q and alpha).

    >>> import numpy as np, lapsum
    >>> x = np.array([7.0, 1.0, 2.0, 4.0, 100.0])
    >>> round(float(lapsum.soft_quantile(x, 0.5, 0.1)), 4)
    4.0
    >>> lapsum.soft_quantile(x, [0.1, 0.5, 0.9], 0.1).round(4)
    array([  1.,   4., 100.])
    """
    return operation("soft_quantile", x, q, alpha).value(
        x,
        q,
        alpha,
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_quantile_vjp(
    x: ArrayLike,
    q: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    dim: int = -1,
    axis: int | None = None,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, ...]:
    """Gradients of ``(g * soft_quantile(x, q, alpha)).sum()`` with respect to x, q and alpha.

    Each gradient has the shape of its argument; g has the shape of the result. With weights
    their gradient comes last.

    >>> import numpy as np, lapsum
    >>> gx, gq, galpha = lapsum.soft_quantile_vjp(np.array([1.0, 2.0, 9.0]), 0.5, 0.1, 1.0)
    >>> gx.round(4)
    array([0., 1., 0.])
    """
    return operation("soft_quantile", x, q, alpha, g).vjp(
        x,
        q,
        alpha,
        g,
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_quantile_jvp(
    x: ArrayLike,
    q: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dq: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    dim: int = -1,
    axis: int | None = None,
    weights: ArrayLike | None = None,
    dweights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_quantile(x, q, alpha)`` along (dx, dq, dalpha).

    None stands for a zero tangent.

    >>> import numpy as np, lapsum
    >>> x = np.array([1.0, 2.0, 9.0])
    >>> round(float(lapsum.soft_quantile_jvp(x, 0.5, 0.1, np.array([0.0, 1.0, 0.0]))), 3)
    1.0
    """
    return operation("soft_quantile", x, q, alpha, dx).jvp(
        x,
        q,
        alpha,
        dx,
        dq,
        dalpha,
        dim=dim,
        axis=axis,
        weights=weights,
        dweights=dweights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
