"""Logarithms of Laplace probabilities, finite with finite derivatives for every finite z."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def log_cdf(z: Tensor) -> Tensor:
    """Log F(z)."""
    below, above = z.clamp(max=0), z.clamp(min=0)
    return torch.where(z < 0, below - math.log(2), torch.log1p(-torch.exp(-above) / 2))


def log_mass(lower: Tensor, upper: Tensor, n: int) -> Tensor:
    """log(F(upper) - F(lower)) for thresholds one level of n elements apart.

    On one side of 0 the mass is e^-near (1 - e^-width) / 2, across 0 it is that of both sides.
    LapSum has a slope of at most n / (2 alpha), so thresholds one level apart are at least 2 / n
    apart in units of alpha, and the mass is at least what that width gives. Where rounding says
    less (alpha below the spacing of doubles, at ties) this bound takes over: no log of 0.
    """
    least = 2 / n
    width = (upper - lower).clamp(min=least)
    near = torch.minimum(lower.abs(), upper.abs())
    beside = -near + torch.log(-torch.expm1(-width))
    across = -torch.expm1(lower.clamp(max=0)) - torch.expm1(-upper.clamp(min=0))
    both = torch.log(across.clamp(min=-math.expm1(-least)))
    return torch.where((lower < 0) & (upper > 0), both, beside) - math.log(2)
