"""Weights of elements: how many times each counts, in the dtype of the row."""

from __future__ import annotations

import torch
from torch import Tensor

from lapsum._numpy.weights import soft_only

__all__ = ["soft_only", "weight_tensor"]


def weight_tensor(op: str, weights: object, x: Tensor) -> Tensor:
    """Weights with one entry for every element of x."""
    given = torch.as_tensor(weights, device=x.device)
    if given.is_complex() or given.dtype == torch.bool:
        raise TypeError(f"{op}: weights must be real numbers, got {given.dtype}")
    try:
        return given.to(x.dtype).expand(x.shape)
    except RuntimeError:
        raise ValueError(
            f"{op}: weights must broadcast to the shape of the row argument {tuple(x.shape)}, "
            f"got {tuple(given.shape)}"
        ) from None
