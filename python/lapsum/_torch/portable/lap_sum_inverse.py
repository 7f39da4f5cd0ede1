"""Roots of levels: db = <q, dr> + 2 alpha / total dk + <q, z> dalpha."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from lapsum._torch.precision import large

from .decayed_scan import scan_both, scan_ones
from .points import gather
from .roots import Roots, solve_levels, spread
from .sorted_row import SortedRow, sort_row


def value(
    r: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool = False,
    weights: Tensor | None = None,
) -> Tensor:
    """(rows, n) and levels (rows, m) to (rows, m); weights (rows, n) count elements."""
    row = sort_row(r, alpha, descending, weights)
    return row.sign * solve_levels(row, k, scan_ones(row)).b


def vjp(
    r: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool = False,
    *,
    g: Tensor,
    needs: Sequence[bool],
    ascending: bool = False,
) -> list[Tensor | None]:
    """Gradients of r, k and alpha (rows, 1), where needed; `ascending` says that levels are."""
    row = sort_row(r, alpha, descending)
    ones = scan_ones(row, order=int(needs[2]))
    roots = solve_levels(row, k, ones)
    u = row.sign * g + roots.unknown
    gr = gk = galpha = None
    if needs[0]:
        seen = spread(row, roots.points, u.unsqueeze(1), ascending).squeeze(1)
        gr = row.or_nan(row.sign * row.scatter(seen))
    if needs[1]:
        gk = u * _level_slope(row, roots)
    if needs[2]:
        before, behind = gather(ones, roots.points, 1)
        slopes = (before - behind).squeeze(1)
        galpha = row.or_nan(row.alpha_sign * (u * slopes).sum(-1, keepdim=True))
    return [gr, gk, galpha]


def jvp(
    r: Tensor,
    k: Tensor,
    alpha: Tensor,
    descending: bool = False,
    *,
    tangents: Sequence[Tensor | None],
) -> Tensor:
    """The derivative along tangents of r, k and alpha; None stands for zero."""
    dr, dk, dalpha = tangents
    row = sort_row(r, alpha, descending)
    ones = scan_ones(row, order=int(dalpha is not None))
    roots = solve_levels(row, k, ones)
    total = roots.unknown
    if dr is not None:
        moved = torch.where(row.finite, row.weight * row.gather(row.sign * dr), 0.0)
        before, behind = gather(scan_both(row, moved.unsqueeze(1)), roots.points)
        total = total + (before + behind).squeeze(1)
    if dk is not None:
        total = total + dk * _level_slope(row, roots)
    if dalpha is not None:
        before, behind = gather(ones, roots.points, 1)
        total = total + row.alpha_sign * dalpha * (before - behind).squeeze(1)
    return row.sign * total


def _level_slope(row: SortedRow, roots: Roots) -> Tensor:
    """db/dk, cut where it outgrows the type, on a plateau."""
    slope = (2 * row.alpha / roots.total).clamp(max=large(row.r))
    return torch.where(roots.anchor.isfinite(), slope, 0.0)
