"""The inverse of LapSum in its level."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def lap_sum_inverse(
    r: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The b with ``lap_sum(r, b, alpha) = k``, for levels k in any order.

    Args:
        r: array (..., n) of float16, float32 or float64.
        k: levels, array (..., m), or a single number in [0, n]. The limits 0 and n, and levels of
            an array beyond them, give infinities.
        alpha: signed softness; a number, or an array that broadcasts with the batch shape.
        mask: boolean, broadcasts to the shape of r. Where it is False the element is absent: it has
            no part in anything.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array (..., m), or (...) if k is a single number, of the dtype of r.

    >>> import numpy as np, lapsum
    >>> r = np.array([0.0, 1.0, 5.0])
    >>> b = lapsum.lap_sum_inverse(r, [0.3, 2.0], 1.0)
    >>> lapsum.lap_sum(r, b, 1.0).round(9)
    array([0.3, 2. ])
    """
    return operation("lap_sum_inverse", r, k, alpha).value(
        r, k, alpha, mask=mask, lengths=lengths, num_threads=num_threads
    )


def lap_sum_inverse_vjp(
    r: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients of ``(g * lap_sum_inverse(r, k, alpha)).sum()`` with respect to r, k and alpha.

    Each gradient has the shape of its argument; g has the shape of the result.

    >>> import numpy as np, lapsum
    >>> gr, gk, galpha = lapsum.lap_sum_inverse_vjp(np.array([0.0, 1.0]), 1.0, 1.0, 1.0)
    >>> gr
    array([0.5, 0.5])
    """
    return operation("lap_sum_inverse", r, k, alpha, g).vjp(
        r, k, alpha, g, mask=mask, lengths=lengths, num_threads=num_threads
    )


def lap_sum_inverse_jvp(
    r: ArrayLike,
    k: ArrayLike,
    alpha: ArrayLike,
    dr: ArrayLike | None = None,
    dk: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``lap_sum_inverse(r, k, alpha)`` along (dr, dk, dalpha).

    None stands for a zero tangent.

    >>> import numpy as np, lapsum
    >>> lapsum.lap_sum_inverse_jvp(np.array([0.0, 1.0]), [0.5, 1.0], 1.0, np.array([1.0, 1.0]))
    array([1., 1.])
    """
    return operation("lap_sum_inverse", r, k, alpha, dr).jvp(
        r, k, alpha, dr, dk, dalpha, mask=mask, lengths=lengths, num_threads=num_threads
    )
