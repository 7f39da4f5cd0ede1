"""The logarithm of soft top-k, finite where the mask itself underflows."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def log_soft_topk(
    x: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    dim: int = -1,
    axis: int | None = None,
    largest: bool = True,
    return_complement: bool = False,
    weights: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array | tuple[Array, Array]:
    """The logarithm of `soft_topk`, finite and with a useful gradient where p underflows to 0.

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
        return_complement: also return log(1 - p), by the same means and as finite: binary
            cross-entropy needs no epsilon.
        weights: how many times each element counts, w >= 0, broadcasts to the shape of x: p is such
            that w * p sums to k. A k above the sum of w takes all.
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything, and its log p is -inf.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array log p of the dtype of x; the shape of x (broadcast with k and alpha). With
        `return_complement` the pair (log p, log(1 - p)).

    >>> import numpy as np, lapsum
    >>> x = np.array([0.0, 10.0, 20.0, 3000.0])
    >>> lapsum.soft_topk(x, 1, 1.0).round(3)
    array([0., 0., 0., 1.])
    >>> lapsum.log_soft_topk(x, 1, 1.0).round(3)
    array([-1510.693, -1500.693, -1490.693,    -0.   ])
    """
    front_end = operation("log_soft_topk", x, k, alpha)
    flag = bool(largest)
    logp = front_end.value(
        x,
        k,
        alpha,
        flags=(flag,),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
    if not return_complement:
        return logp
    rest = front_end.complement_level(x, k, alpha, flag, dim, axis, weights, mask, lengths)
    complement = front_end.value(
        x,
        rest,
        alpha,
        flags=(not flag,),
        dim=dim,
        axis=axis,
        weights=weights,
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
    return logp, complement


def log_soft_topk_vjp(
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
    """Gradients of ``(g * log_soft_topk(x, k, alpha)).sum()`` with respect to x, k and alpha.

    Each gradient has the shape of its argument; g has the shape of the result. With weights
    their gradient comes last.

    >>> import numpy as np, lapsum
    >>> x, g = np.array([0.0, 10.0]), np.array([1.0, 0.0])
    >>> gx, gk, galpha = lapsum.log_soft_topk_vjp(x, 1, 1.0, g)
    >>> gx.round(3)
    array([ 0.5, -0.5])
    """
    return operation("log_soft_topk", x, k, alpha, g).vjp(
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


def log_soft_topk_jvp(
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
    """The derivative of ``log_soft_topk(x, k, alpha)`` along (dx, dk, dalpha).

    None stands for a zero tangent.

    >>> import numpy as np, lapsum
    >>> lapsum.log_soft_topk_jvp(np.array([0.0, 10.0]), 1, 1.0, np.array([1.0, 0.0])).round(3)
    array([ 0.5  , -0.002])
    """
    return operation("log_soft_topk", x, k, alpha, dx).jvp(
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
