"""Soft rank with the direction in the sign of alpha."""

from __future__ import annotations

from typing import Any

from torch import Tensor

import lapsum

__all__ = ["soft_rank"]


def soft_rank(x: Tensor, alpha: float | Tensor = -1, dim: int = 1) -> Tensor:
    """`lapsum.soft_rank` with signed alpha: a negative one, the default, ranks the largest first.

    Ranks begin with 0, as theirs. `dim` is obeyed, for any number of axes.

    Returns:
        tensor of the shape of x.

    >>> import torch
    >>> from lapsum.compat.gmum.rank import soft_rank
    >>> soft_rank(torch.tensor([[10.0, 30.0, 20.0]]), alpha=-0.5).round(decimals=3)
    tensor([[2., 0., 1.]])
    """
    ranks: Any = lapsum.soft_rank
    result: Tensor = ranks(x, alpha, dim=dim)
    return result
