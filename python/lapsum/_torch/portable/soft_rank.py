"""rank_j = LapSum(x_j) - 1/2. Its Jacobian in x is symmetric: (J v)_j = peak (v_j K_1 - K_v)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .decayed_scan import scan_both, scan_ones
from .kernel_sum import kernel_sum
from .points import Points, gather, locate
from .sorted_row import SortedRow, sort_row


def value(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    """(rows, n) to (rows, n)."""
    row = sort_row(x, alpha, descending)
    ones = torch.ones_like(x).unsqueeze(1)
    return row.or_nan(kernel_sum(row, ones, row.sign * x, "cdf", 0).squeeze(1) - 0.5)


def vjp(
    x: Tensor, alpha: Tensor, descending: bool, *, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of x and alpha (rows, 1), where needed."""
    row = sort_row(x, alpha, descending)
    points = locate(row, row.sign * x)
    gx = _jacobian(row, points, g) if needs[0] else None
    galpha = (g * _alpha_slope(row, points)).sum(-1, keepdim=True) if needs[1] else None
    return [gx, galpha]


def jvp(x: Tensor, alpha: Tensor, descending: bool, *, tangents: Sequence[Tensor | None]) -> Tensor:
    """The derivative along tangents of x and alpha; None stands for zero."""
    dx, dalpha = tangents
    row = sort_row(x, alpha, descending)
    points = locate(row, row.sign * x)
    out = row.or_nan(torch.zeros_like(x))
    if dx is not None:
        out = out + _jacobian(row, points, dx)
    if dalpha is not None:
        out = out + dalpha * _alpha_slope(row, points)
    return out


def _jacobian(row: SortedRow, points: Points, v: Tensor) -> Tensor:
    """J v at the points, which are the elements. The element itself cancels."""
    weights = row.weight.unsqueeze(1) * torch.stack([torch.ones_like(v), row.gather(v)], 1)
    before, behind = gather(scan_both(row, weights), points)
    moved = (v * before[:, 0] - before[:, 1]) + (v * behind[:, 0] - behind[:, 1])
    return row.or_nan(row.sign * row.peak * moved)


def _alpha_slope(row: SortedRow, points: Points) -> Tensor:
    before, behind = gather(scan_ones(row, order=1), points, 1)
    return row.or_nan(-row.alpha_sign * row.peak * (before - behind).squeeze(1))
