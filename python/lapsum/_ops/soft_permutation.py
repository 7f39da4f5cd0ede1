"""The soft permutation matrix: row = position, column = element."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from lapsum._dispatch import operation

Array = NDArray[Any]


def soft_permutation(
    x: ArrayLike,
    alpha: ArrayLike = 1.0,
    *,
    descending: bool = False,
    hard: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The doubly stochastic matrix P: entry [i, j] is how much of element j is at position i.

    As alpha goes to 0 P becomes the matrix of the permutation that sorts x: P @ x is sorted. To
    apply P without forming it, see `soft_permute`.

    Args:
        x: array (..., n) of float16, float32 or float64.
        alpha: softness, smaller is harder; a number, or an array that broadcasts with the batch
            shape x.shape[:-1]. A negative alpha reverses the direction.
        descending: position 0 is that of the largest element.
        hard: return the hard result, ties taken by index; the gradient, where there is one, stays
            that of the soft result (straight-through).
        mask: boolean, broadcasts to the shape of x. Where it is False the element is absent: it has
            no part in anything. Its column, and the rows left over at the end, are 0.
        lengths: instead of a mask, how many elements at the front of each row are present; an
            integer, or an array that broadcasts with the batch shape.
        num_threads: how many threads the call may use; None leaves it to OpenMP.

    Returns:
        array (..., n, n) of the dtype of x.

    >>> import numpy as np, lapsum
    >>> lapsum.soft_permutation(np.array([0.5, 3.0, -1.0]), 0.1).round(2)
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    return operation("soft_permutation", x, alpha).value(
        x,
        alpha,
        flags=(bool(descending),),
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
        hard=hard,
    )


def soft_permutation_vjp(
    x: ArrayLike,
    alpha: ArrayLike,
    g: ArrayLike,
    *,
    descending: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> tuple[Array, Array]:
    """Gradients of ``(g * soft_permutation(x, alpha)).sum()`` with respect to x and alpha.

    Each gradient has the shape of its argument; g has the shape of the result.

    >>> import numpy as np, lapsum
    >>> g = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> gx, galpha = lapsum.soft_permutation_vjp(np.array([0.0, 1.0]), 1.0, g)
    >>> gx.round(4)
    array([-0.3033,  0.3033])
    """
    return operation("soft_permutation", x, alpha, g).vjp(
        x, alpha, g, flags=(bool(descending),), mask=mask, lengths=lengths, num_threads=num_threads
    )


def soft_permutation_jvp(
    x: ArrayLike,
    alpha: ArrayLike,
    dx: ArrayLike | None = None,
    dalpha: ArrayLike | None = None,
    *,
    descending: bool = False,
    mask: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    num_threads: int | None = None,
) -> Array:
    """The derivative of ``soft_permutation(x, alpha)`` along (dx, dalpha); None stands for zero.

    >>> import numpy as np, lapsum
    >>> lapsum.soft_permutation_jvp(np.array([0.0, 1.0]), 1.0, np.array([0.0, 1.0])).round(4)
    array([[ 0.1516, -0.1516],
           [-0.1516,  0.1516]])
    """
    return operation("soft_permutation", x, alpha, dx).jvp(
        x,
        alpha,
        dx,
        dalpha,
        flags=(bool(descending),),
        mask=mask,
        lengths=lengths,
        num_threads=num_threads,
    )
