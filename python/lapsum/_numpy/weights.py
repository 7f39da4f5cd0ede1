"""Weights of elements: how many times each counts. They have the dtype of the row in the core."""

from __future__ import annotations

import numpy as np

from .layout import Array, sum_to


def weight_array(op: str, weights: object, x: Array) -> Array:
    """Weights with one entry for every element of x, in its dtype."""
    given = np.asarray(weights)
    if given.dtype.kind not in "fiu":
        raise TypeError(f"{op}: weights must be real numbers, got {given.dtype}")
    try:
        return np.broadcast_to(given.astype(x.dtype), x.shape)
    except ValueError:
        raise ValueError(
            f"{op}: weights must broadcast to the shape of the row argument {x.shape}, "
            f"got {given.shape}"
        ) from None


def gradient_of_weights(gradient: Array, weights: object) -> Array:
    """The gradient for weights as they were given; that of integers is float64."""
    given = np.asarray(weights)
    dtype = given.dtype if given.dtype.kind == "f" else np.dtype(np.float64)
    return sum_to(gradient, given.shape).astype(dtype)


def soft_only(op: str, weights: object, hard: bool) -> None:
    """A hard result does not divide elements, so it has no weights."""
    if weights is not None and hard:
        raise TypeError(f"{op}: hard and weights exclude each other, got both")
