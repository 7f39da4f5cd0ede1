"""The soft k-th largest value: the threshold of soft_topk."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_kth_value(
    x: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The threshold b of soft_topk along an axis: ``F((x - b) / alpha)`` sums to k.

    As alpha goes to 0, b goes halfway between the k-th and the (k + 1)-th largest element for an
    integer k, and to the k-th one itself at the level k - 1/2. The limits k = 0 and k = n give inf
    and -inf, with zero gradient.

    Args:
        x: array (..., n) of float16, float32 or float64. An element at -inf (+inf for the
            smallest) is never chosen: a k that the others do not exceed gives -inf (+inf).
        k: how many to choose, any real in [0, n]; a number, or an array that broadcasts with the
            batch shape (the shape of x without `dim`). Numbers of an array beyond [0, n] give
            infinities.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape. A negative alpha reverses the direction.
        dim: the axis of the rows.
        axis: another name for dim.
        largest: count from the largest element, else from the smallest.
        weights: how many times each element counts, w >= 0, broadcasts to the shape of x: k lies in
            [0, sum of w].
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array of the dtype of x; the batch shape (broadcast with k and alpha).

    >>> import numpy as np, lapsum
    >>> x = np.array([7.0, 1.0, 2.0, 4.0, 100.0])
    >>> round(float(lapsum.soft_kth_value(x, 2, 0.1)), 4)
    5.5
    >>> lapsum.soft_kth_value(x, [0.5, 1.5, 2.5], 0.1).round(4)
    array([100.,   7.,   4.])
    >>> b = lapsum.soft_kth_value(x, 2, 3.0)
    >>> p = lapsum.soft_topk(x, 2, 3.0)
    >>> bool(np.allclose(p, np.where(x > b, 1 - np.exp((b - x) / 3) / 2, np.exp((x - b) / 3) / 2)))
    True
    """
    return operation("soft_kth_value", x, k, alpha).value(
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
    )


def soft_kth_value_vjp(
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
    """Gradients of ``(g * soft_kth_value(x, k, alpha)).sum()`` with respect to x, k and alpha.

    Each gradient has the shape of its argument; g has the shape of the result. With weights
    their gradient comes last.

    >>> import numpy as np, lapsum
    >>> gx, gk, galpha = lapsum.soft_kth_value_vjp(np.array([1.0, 2.0, 9.0]), 1.5, 0.1, 1.0)
    >>> gx.round(4)
    array([0., 1., 0.])
    """
    return operation("soft_kth_value", x, k, alpha, g).vjp(
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


def soft_kth_value_jvp(
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
    """The derivative of ``soft_kth_value(x, k, alpha)`` along (dx, dk, dalpha).

    None stands for a zero tangent.

    >>> import numpy as np, lapsum
    >>> x = np.array([1.0, 2.0, 9.0])
    >>> round(float(lapsum.soft_kth_value_jvp(x, 1.5, 0.1, np.array([0.0, 1.0, 0.0]))), 3)
    1.0
    """
    return operation("soft_kth_value", x, k, alpha, dx).jvp(
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
