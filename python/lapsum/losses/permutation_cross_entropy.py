"""Cross-entropy of a whole order: every element should stand at its position.

The matrix of soft_permutation is never formed: every element needs one entry of it, which two
thresholds give. See `_log_mass` for what keeps its logarithm finite.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

import lapsum

from .arguments import check_reduction, labels, reduced, softness, wide_row

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
    a = torch.as_tensor(softness(_OP, alpha), dtype=torch.float64, device=x.device).unsqueeze(-1)
    turn = torch.where((a < 0) != descending, -1.0, 1.0)
    loss = -_log_entries(turn * x.to(torch.float64), ranks, a.abs()).mean(-1)
    return reduced(loss.to(x.dtype), reduction)


def _log_entries(x: Tensor, ranks: Tensor, a: Tensor) -> Tensor:
    """Log P[ranks[i], i] of ascending rows x (..., n), for alpha > 0 (..., 1)."""
    n = x.shape[-1]
    if n == 1:
        return x - x
    levels = torch.arange(1.0, n, dtype=torch.float64, device=x.device)
    b = _lap_sum_inverse(x, levels, a.squeeze(-1))
    ranks = ranks.expand(x.shape)
    lower = (b.gather(-1, (ranks - 1).clamp(min=0)) - x) / a
    upper = (b.gather(-1, ranks.clamp(max=n - 2)) - x) / a
    inside = _log_mass(lower, upper, n)
    first, last = _log_cdf(upper), _log_cdf(-lower)
    return torch.where(ranks == 0, first, torch.where(ranks == n - 1, last, inside))


def _log_mass(lower: Tensor, upper: Tensor, n: int) -> Tensor:
    """log(F(upper) - F(lower)) for neighbouring thresholds, as seen from an element at 0.

    On one side of the element the mass is e^-near (1 - e^-width) / 2, across it that of both
    sides. LapSum has a slope of at most n / (2 alpha), so thresholds one level apart are at least
    2 / n apart in units of alpha, and the mass is at least what that width gives. Where rounding
    says less (alpha below the spacing of doubles, at ties) this bound takes over: no log of 0.
    """
    least = 2 / n
    width = (upper - lower).clamp(min=least)
    near = torch.minimum(lower.abs(), upper.abs())
    beside = -near + torch.log(-torch.expm1(-width))
    across = -torch.expm1(lower.clamp(max=0)) - torch.expm1(-upper.clamp(min=0))
    both = torch.log(across.clamp(min=-math.expm1(-least)))
    return torch.where((lower < 0) & (upper > 0), both, beside) - math.log(2)


def _log_cdf(z: Tensor) -> Tensor:
    below, above = z.clamp(max=0), z.clamp(min=0)
    return torch.where(z < 0, below - math.log(2), torch.log1p(-torch.exp(-above) / 2))
