"""The soft permutation applied to values, without its matrix."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_permute(
    x: ArrayLike,
    values: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    descending: bool = False,
    transpose: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """``soft_permutation(x, alpha) @ values`` in O(n log n + n d) time and O(n) extra memory.

    Values are brought into the order of x; with `transpose`, from that order back to the elements.

    Args:
        x: array (..., n) of float16, float32 or float64.
        values: array (..., n) with as many axes as x, or (..., n, d) with one more.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape x.shape[:-1]. A negative alpha reverses the direction.
        descending: position 0 is that of the largest element of x.
        transpose: apply the transposed matrix.
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything. The positions left over at the end hold 0; with `transpose` its own
            entries do.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array of the shape of values (batch axes broadcast).

    >>> import numpy as np, lapsum
    >>> x = np.array([0.5, 3.0, -1.0])
    >>> lapsum.soft_permute(x, np.array([10.0, 20.0, 30.0]), 0.01).round(3)
    array([30., 10., 20.])
    >>> lapsum.soft_permute(x, np.eye(3), 0.01, transpose=True).shape
    (3, 3)
    """
    return operation("soft_permute", x, values, alpha).value(
        x,
        values,
        alpha,
        flags=(bool(transpose), bool(descending)),
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_permute_vjp(
    x: ArrayLike,
    values: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    descending: bool = False,
    transpose: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients of ``(g * soft_permute(x, values, alpha)).sum()`` in x, values and alpha.

    Each gradient has the shape of its argument; g has the shape of the result.

    >>> import numpy as np, lapsum
    >>> x, values, g = np.array([0.0, 1.0]), np.array([5.0, 7.0]), np.array([1.0, 0.0])
    >>> gx, gvalues, galpha = lapsum.soft_permute_vjp(x, values, 1.0, g)
    >>> gx.round(4), gvalues.round(4)
    (array([ 0.3033, -0.3033]), array([0.6967, 0.3033]))
    """
    return operation("soft_permute", x, values, alpha, g).vjp(
        x,
        values,
        alpha,
        g,
        flags=(bool(transpose), bool(descending)),
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )


def soft_permute_jvp(
    x: ArrayLike,
    values: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dvalues: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    descending: bool = False,
    transpose: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_permute(x, values, alpha)`` along (dx, dvalues, dalpha).

    None stands for a zero tangent.

    >>> import numpy as np, lapsum
    >>> x, values = np.array([0.0, 1.0]), np.array([5.0, 7.0])
    >>> lapsum.soft_permute_jvp(x, values, 1.0, np.array([1.0, 0.0])).round(4)
    array([ 0.3033, -0.3033])
    """
    return operation("soft_permute", x, values, alpha, dx, dvalues).jvp(
        x,
        values,
        alpha,
        dx,
        dvalues,
        dalpha,
        flags=(bool(transpose), bool(descending)),
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
