"""Soft sort with the direction in the sign of alpha."""

from __future__ import annotations

from typing import Any

from torch import Tensor

import lapsum

__all__ = ["soft_sort"]


def soft_sort(x: Tensor, alpha: float | Tensor = -1, dim: int = 1) -> Tensor:
    """`lapsum.soft_sort` with signed alpha: a negative one, the default, puts the largest first.

    Gradients reach x in both directions, and alpha; `dim` is obeyed, for any number of axes.

    Returns:
        tensor of the shape of x.

    >>> import torch
    >>> from lapsum.compat.gmum.sort import soft_sort
    >>> soft_sort(torch.tensor([[10.0, 30.0, 20.0]]), alpha=-0.1)
    tensor([[30., 20., 10.]])
    """
    ordered: Any = lapsum.soft_sort
    result: Tensor = ordered(x, alpha, dim=dim)
    return result
