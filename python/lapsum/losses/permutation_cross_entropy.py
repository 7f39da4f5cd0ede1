"""Cross-entropy of a whole order: every element should stand at its position.

The matrix of soft_permutation is never formed: every element needs one entry of it, which two
thresholds give.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import lapsum
from lapsum._torch.precision import wide

from .arguments import check_reduction, labels, reduced, softness, wide_row
from .laplace import log_cdf, log_mass

_OP = "permutation_cross_entropy"
_lap_sum_inverse: Any = lapsum.lap_sum_inverse


def permutation_cross_entropy(
    scores: Tensor,
    target_ranks: Tensor,
    alpha: float | Tensor = 1.0,
    *,
    descending: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Minus the mean log probability that each element takes its target position.

    For a row this is the mean over i of -log P[target_ranks[i], i], P being
    `soft_permutation(scores, alpha)`, in O(n log n) time and O(n) memory, computed in float64. It
    is finite, with a finite gradient, where the entries of P underflow, and for ties.

    Args:
        scores: tensor (..., n), finite.
        target_ranks: integer tensor (..., n): the position of each element, 0 to n - 1. For a row
            of known values that is values.argsort().argsort().
        alpha: softness; a number, or a tensor that broadcasts with the batch shape (...). A
            negative alpha reverses the direction.
        descending: position 0 is that of the largest score, else of the smallest.
        reduction: "none" gives a loss for every row, "mean" and "sum" one number.

    Returns:
        tensor (...) or a single number; float64 for float64 scores, else float32.

    >>> import torch
    >>> from lapsum.losses import permutation_cross_entropy
    >>> scores = torch.tensor([0.0, 10.0, 20.0])
    >>> permutation_cross_entropy(scores, torch.tensor([0, 1, 2]), alpha=1.0)
    tensor(0.0045)
    >>> permutation_cross_entropy(scores, torch.tensor([0, 2, 1]), alpha=1.0)
    tensor(3.7966)
    """
    check_reduction(_OP, reduction)
    x = wide_row(_OP, "scores", scores)
    ranks = labels(_OP, "target_ranks", target_ranks, x.shape)
    dtype, device = wide(x.device), x.device
    a = torch.as_tensor(softness(_OP, alpha, device), dtype=dtype, device=device).unsqueeze(-1)
    turn = torch.where((a < 0) != descending, -1.0, 1.0)
    loss = -_log_entries(turn * x.to(dtype), ranks, a.abs()).mean(-1)
    return reduced(loss.to(x.dtype), reduction)


def _log_entries(x: Tensor, ranks: Tensor, a: Tensor) -> Tensor:
    """Log P[ranks[i], i] of ascending rows x (..., n), for alpha > 0 (..., 1)."""
    n = x.shape[-1]
    if n == 1:
        return x - x
    levels = torch.arange(1.0, n, dtype=x.dtype, device=x.device)
    b = _lap_sum_inverse(x, levels, a.squeeze(-1))
    ranks = ranks.expand(x.shape)
    lower = (b.gather(-1, (ranks - 1).clamp(min=0)) - x) / a
    upper = (b.gather(-1, ranks.clamp(max=n - 2)) - x) / a
    inside = log_mass(lower, upper, n)
    first, last = log_cdf(upper), log_cdf(-lower)
    return torch.where(ranks == 0, first, torch.where(ranks == n - 1, last, inside))
