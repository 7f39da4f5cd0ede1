"""LapSum at points: dy = peak (K_1(x) dx - K_dr(x) - Z_1(x) dalpha), K even_0 and Z odd_1 sums."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .decayed_scan import scan_both, scan_ones
from .kernel_sum import kernel_sum
from .points import gather, locate
from .roots import spread
from .sorted_row import sort_row


def value(r: Tensor, x: Tensor, alpha: Tensor) -> Tensor:
    """(rows, n) and points (rows, m) to (rows, m)."""
    row = sort_row(r, alpha)
    at = row.sign * x
    y = kernel_sum(row, torch.ones_like(r).unsqueeze(1), at, "cdf", 0).squeeze(1)
    return row.or_nan(torch.where(at.isnan(), torch.nan, y))


def vjp(
    r: Tensor, x: Tensor, alpha: Tensor, *, g: Tensor, needs: Sequence[bool]
) -> list[Tensor | None]:
    """Gradients of r, x and alpha (rows, 1), where needed."""
    row = sort_row(r, alpha)
    points = locate(row, row.sign * x)
    gr = gx = galpha = None
    if needs[0]:
        seen = row.scatter(spread(row, points, g.unsqueeze(1)).squeeze(1))
        gr = row.or_nan(-row.sign * row.peak * seen)
    if needs[1] or needs[2]:
        ones = scan_ones(row, order=int(needs[2]))
        before, behind = (side.squeeze(1) for side in gather(ones, points))
        gx = row.or_nan(row.sign * row.peak * g * (before + behind))
    if needs[2]:
        before, behind = (side.squeeze(1) for side in gather(ones, points, 1))
        slope = (g * (before - behind)).sum(-1, keepdim=True)
        galpha = row.or_nan(-row.alpha_sign * row.peak * slope)
    return [gr, gx, galpha]


def jvp(r: Tensor, x: Tensor, alpha: Tensor, *, tangents: Sequence[Tensor | None]) -> Tensor:
    """The derivative along tangents of r, x and alpha; None stands for zero."""
    dr, dx, dalpha = tangents
    row = sort_row(r, alpha)
    points = locate(row, row.sign * x)
    ones = scan_ones(row, order=int(dalpha is not None))
    total = torch.zeros_like(x)
    if dx is not None:
        before, behind = (side.squeeze(1) for side in gather(ones, points))
        total = total + row.sign * dx * (before + behind)
    if dr is not None:
        moved = scan_both(row, (row.weight * row.gather(row.sign * dr)).unsqueeze(1))
        before, behind = (side.squeeze(1) for side in gather(moved, points))
        total = total - (before + behind)
    if dalpha is not None:
        before, behind = (side.squeeze(1) for side in gather(ones, points, 1))
        total = total - row.alpha_sign * dalpha * (before - behind)
    return row.or_nan(row.peak * total)
