"""Weights of elements: how many times each counts, in the dtype of the row."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from lapsum._numpy.weights import soft_only, weight_array

__all__ = ["soft_only", "weight_tensor"]


def weight_tensor(op: str, weights: object, x: Tensor) -> Tensor:
    """Weights with one entry for every element of x."""
    shape = tuple(x.shape)
    if not isinstance(weights, Tensor):
        given = weight_array(op, weights, np.broadcast_to(np.float64(0), shape))
        return torch.from_numpy(given.copy()).to(x)
    if weights.is_complex() or weights.dtype == torch.bool:
        raise TypeError(f"{op}: weights must be real numbers, got {weights.dtype}")
    try:
        return weights.to(x.dtype).expand(shape)
    except RuntimeError:
        raise ValueError(
            f"{op}: weights must broadcast to the shape of the row argument {shape}, "
            f"got {tuple(weights.shape)}"
        ) from None
