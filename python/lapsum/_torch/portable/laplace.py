"""Laplace mathematics on tensors, by the small one of loss and decay; z is (x - r) / alpha."""

from __future__ import annotations

import math

import torch
from torch import Tensor

FAR = 1000.0  # e^-z is zero beyond; distances are cut here, so that z e^-z never meets inf * 0


def cdf(z: Tensor) -> Tensor:
    """F(z)."""
    half = torch.exp(-z.abs()) / 2
    return torch.where(z > 0, 1 - half, half)


def log_cdf(z: Tensor) -> Tensor:
    """Log F(z), finite for every finite z."""
    return torch.where(z > 0, torch.log1p(torch.exp(-z.abs()) / -2), z - math.log(2))


def log_cdf_slope(z: Tensor) -> Tensor:
    """F'(z) / F(z)."""
    half = torch.exp(-z.abs()) / 2
    return torch.where(z > 0, half / (1 - half), 1.0)


def loss(z: Tensor) -> Tensor:
    """1 - e^-z for z >= 0."""
    return -torch.expm1(-z)


def mass(lower: Tensor, upper: Tensor) -> Tensor:
    """F(upper) - F(lower) for lower <= upper; equal infinities have no mass between them."""
    width = torch.where(lower == upper, 0.0, upper - lower).clamp(min=0)
    near = torch.minimum(lower.abs(), upper.abs())
    beside = torch.exp(-near) * loss(width)
    across = loss(lower.abs()) + loss(upper.abs())
    return torch.where((lower < 0) & (upper > 0), across, beside) / 2
