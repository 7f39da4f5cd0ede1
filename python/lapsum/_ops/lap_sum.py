"""The function everything is built on: the sum of Laplace CDFs around a row."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def lap_sum(
    r: ArrayLike,
    x: ArrayLike,
    alpha: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """``y[t] = sum_i F((x[t] - r[i]) / alpha)``, F the Laplace CDF, in O((n + m) log(n + m)).

    Args:
        r: array (..., n) of float16, float32 or float64.
        x: points, array (..., m), or a single number.
        alpha: signed softness; a number, or an array that broadcasts with the batch shape. A
            negative alpha makes y decrease in x.
        mask: boolean, broadcasts to the shape of r. Where it is False the element is absent: it has
            no part in anything.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array (..., m) with values in [0, n].

    >>> import numpy as np, lapsum
    >>> lapsum.lap_sum(np.array([0.0, 1.0, 2.0]), np.array([-9.0, 1.0, 9.0]), 0.5).round(4)
    array([0. , 1.5, 3. ])
    """
    return operation("lap_sum", r, x, alpha).value(
        r, x, alpha, mask=mask, lengths=lengths, num_threads=num_threads
    )


def lap_sum_vjp(
    r: ArrayLike,
    x: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, Array, Array]:
    """Gradients of ``(g * lap_sum(r, x, alpha)).sum()`` with respect to r, x and alpha.

    Each gradient has the shape of its argument; g has the shape of the result.

    >>> import numpy as np, lapsum
    >>> gr, gx, galpha = lapsum.lap_sum_vjp(np.array([0.0]), np.array([0.0]), 1.0, np.array([1.0]))
    >>> gr, gx
    (array([-0.5]), array([0.5]))
    """
    return operation("lap_sum", r, x, alpha, g).vjp(
        r, x, alpha, g, mask=mask, lengths=lengths, num_threads=num_threads
    )


def lap_sum_jvp(
    r: ArrayLike,
    x: ArrayLike,
    alpha: ArrayLike,
    dr: ArrayLike | None = None,
    dx: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``lap_sum(r, x, alpha)`` along (dr, dx, dalpha); None stands for zero.

    >>> import numpy as np, lapsum
    >>> lapsum.lap_sum_jvp(np.array([0.0]), np.array([0.0]), 1.0, dx=np.array([1.0]))
    array([0.5])
    """
    return operation("lap_sum", r, x, alpha, dr, dx).jvp(
        r, x, alpha, dr, dx, dalpha, mask=mask, lengths=lengths, num_threads=num_threads
    )
