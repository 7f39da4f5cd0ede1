"""Weighted sums of Laplace kernels: what derivatives of every order are made of."""

from __future__ import annotations

from operator import index
from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def lap_kernel(
    r: ArrayLike,
    w: ArrayLike,
    x: ArrayLike,
    alpha: ArrayLike,
    *,
    shape: str = "even",
    order: int = 0,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """``y[t] = sum_i w[i] phi((x[t] - r[i]) / alpha)`` in O((n + m) log(n + m)).

    phi(z) is ``F(z)`` for shape "cdf", ``|z|**order * exp(-|z|)`` for "even", and that times
    ``sign(z)`` for "odd". The set is closed under differentiation: F' = even0 / 2,
    even_p' = p odd_{p-1} - odd_p, odd_p' = p even_{p-1} - even_p, and d/dalpha of phi(z) is
    -z phi'(z) / alpha with z even_p = odd_{p+1}; so further derivatives, and the gradient in w
    (r and x change places, alpha its sign), are calls of the same function.

    Args:
        r: array (..., n) of float16, float32 or float64.
        w: weights, an array of the shape of r.
        x: points, array (..., m), or a single number.
        alpha: signed softness; a number, or an array that broadcasts with the batch shape.
        shape: "cdf", "even" or "odd".
        order: 0 to 3; 0 for "cdf".
        mask: boolean, broadcasts to the shape of r. Where it is False the element is absent: it has
            no part in anything.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array (..., m).

    >>> import numpy as np, lapsum
    >>> lapsum.lap_kernel(np.array([0.0, 2.0]), np.array([1.0, 3.0]), np.array([1.0]), 1.0).round(4)
    array([1.4715])
    """
    if not isinstance(shape, str):
        raise TypeError(f"lap_kernel: shape must be a string, got {shape!r}")
    try:
        order = index(order)
    except TypeError:
        raise TypeError(f"lap_kernel: order must be an integer, got {order!r}") from None
    return operation("lap_kernel", r, w, x).value(
        r, w, x, alpha, flags=(shape, order), mask=mask, lengths=lengths, num_threads=num_threads
    )
