"""P v and P^T v without P, and the derivatives of the bilinear form u^T P v that both make with g.

With Y_t = sum_j v_j F((b_t - r_j) / alpha) at the roots between positions and h_t = u_{t-1} - u_t,
the form is sum_t h_t Y_t but for a term without r, and

    dY_t = peak (K_v(b_t) db_t - K_{v dr}(b_t) - Z_v(b_t) dalpha),   db_t = <q, dr> + <q, z> dalpha
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .decayed_scan import Scans, scan_both, scan_ones
from .permuted_row import PermutedRow, permuted_row
from .points import gather
from .roots import spread, spread_odd
from .sorted_row import sort_row


def value(x: Tensor, values: Tensor, alpha: Tensor, transpose: bool, descending: bool) -> Tensor:
    """(rows, n) and values (rows, n, d) to (rows, n, d)."""
    row = sort_row(x, alpha, descending)
    p = permuted_row(row, scan_ones(row))
    return _apply(p, values.transpose(1, 2), transpose).transpose(1, 2)


def vjp(
    x: Tensor,
    values: Tensor,
    alpha: Tensor,
    transpose: bool,
    descending: bool,
    *,
    g: Tensor,
    needs: Sequence[bool],
) -> list[Tensor | None]:
    """Gradients of x, values and alpha (rows, 1), where needed."""
    row = sort_row(x, alpha, descending)
    ones = scan_ones(row, order=int(needs[2]))
    p = permuted_row(row, ones)
    given, pulled = values.transpose(1, 2), g.transpose(1, 2)
    gvalues = _apply(p, pulled, not transpose).transpose(1, 2) if needs[1] else None
    gx = galpha = None
    if needs[0] or needs[2]:
        u, v = (given, pulled) if transpose else (pulled, given)
        v = torch.where(row.finite.unsqueeze(1), row.gather(v), 0.0)
        gr, slope = _form_gradient(p, ones, u, v, needs[2])
        gx = row.or_nan(row.sign * row.peak * row.scatter(gr))
        galpha = None if slope is None else row.or_nan(row.alpha_sign * row.peak * slope)
    return [gx, gvalues, galpha]


def jvp(
    x: Tensor,
    values: Tensor,
    alpha: Tensor,
    transpose: bool,
    descending: bool,
    *,
    tangents: Sequence[Tensor | None],
) -> Tensor:
    """The derivative along tangents of x, values and alpha; None stands for zero."""
    dx, dvalues, dalpha = tangents
    row = sort_row(x, alpha, descending)
    ones = scan_ones(row, order=1)
    p = permuted_row(row, ones)
    out = torch.zeros_like(values)
    if dvalues is not None:
        out = _apply(p, dvalues.transpose(1, 2), transpose).transpose(1, 2)
    if dx is None and dalpha is None:
        return row.or_nan(out)
    dr = row.gather(row.sign * (torch.zeros_like(x) if dx is None else dx)).unsqueeze(1)
    dr = torch.where(row.finite.unsqueeze(1), dr, 0.0)
    da = torch.zeros_like(alpha) if dalpha is None else row.alpha_sign * dalpha
    move = _transposed_tangent if transpose else _tangent
    moved = move(p, ones, values.transpose(1, 2), dr, da.unsqueeze(1)).transpose(1, 2)
    return row.or_nan(out + row.peak.unsqueeze(1) * moved)


def _root_tangent(p: PermutedRow, ones: Scans, dr: Tensor, da: Tensor) -> Tensor:
    """The db of all roots, (rows, 1, n - 1)."""
    before, behind = gather(scan_both(p.row, dr), p.roots.points)
    left, right = gather(ones, p.roots.points, 1)
    return (before + behind) + da * (left - right)


def _tangent(p: PermutedRow, ones: Scans, v: Tensor, dr: Tensor, da: Tensor) -> Tensor:
    """The change of P v over peak, v (rows, columns, n) by element."""
    row, points, columns = p.row, p.roots.points, v.shape[1]
    v = torch.where(row.finite.unsqueeze(1), row.gather(v), 0.0)
    scans = scan_both(row, torch.cat([v, v * dr], 1), order=1)
    before, behind = gather(scans, points)
    even, moved = (before + behind).split(columns, 1)
    before, behind = gather(scans, points, 1)
    odd = (before - behind)[:, :columns]
    db = _root_tangent(p, ones, dr, da)
    change = p.roots.total.unsqueeze(1) * (db * even - moved - da * odd)
    return torch.nn.functional.pad(change, (0, 1)) - torch.nn.functional.pad(change, (1, 0))


def _transposed_tangent(p: PermutedRow, ones: Scans, u: Tensor, dr: Tensor, da: Tensor) -> Tensor:
    """The change of P^T u over peak, u (rows, columns, n) by position."""
    h, columns = _differences(p, u), u.shape[1]
    with_roots = torch.cat([h, h * _root_tangent(p, ones, dr, da)], 1)
    even, moved = spread(p.row, p.roots.points, with_roots, ascending=True).split(columns, 1)
    odd = spread_odd(p.row, p.roots.points, h)
    return p.row.scatter(moved - dr * even - da * odd)


def _apply(p: PermutedRow, v: Tensor, transpose: bool) -> Tensor:
    """P v or P^T v for v (rows, columns, n).

    Infinite elements share the positions at their end evenly. A value that is not finite makes its
    column NaN, as 0 times it would in a matrix product.
    """
    row, position = p.row, torch.arange(v.shape[-1], device=v.device)
    first = (position < row.below).unsqueeze(1)  # of positions and of sorted elements alike
    last = (position >= v.shape[-1] - row.above).unsqueeze(1)
    sorted_v = v if transpose else row.gather(v)

    def share(which: Tensor, count: Tensor) -> Tensor:
        return torch.where(which, sorted_v, 0.0).sum(-1, keepdim=True) / count.unsqueeze(1)

    inside = torch.where(first | last, 0.0, sorted_v)
    out = p.apply_transpose(inside) if transpose else p.apply(inside)
    out = torch.where(first, share(first, row.below), out)
    out = torch.where(last, share(last, row.above), out)
    known = v.isfinite().all(-1, keepdim=True)
    out = row.or_nan(torch.where(known, out, torch.nan))
    return row.scatter(out) if transpose else out


def _differences(p: PermutedRow, u: Tensor) -> Tensor:
    """The h of u (rows, columns, n), in units of the weights of the roots."""
    total = p.roots.total.unsqueeze(1)
    return torch.where(total > 0, (u[..., :-1] - u[..., 1:]) * total, 0.0)


def _form_gradient(
    p: PermutedRow, ones: Scans, u: Tensor, v: Tensor, with_alpha: bool
) -> tuple[Tensor, Tensor | None]:
    """In r (rows, n), sorted, and in |alpha| (rows, 1), both over peak.

    u is by position and v by sorted element, (rows, columns, n).
    """
    row, points = p.row, p.roots.points
    h = _differences(p, u)
    scans = scan_both(row, v, order=int(with_alpha))
    before, behind = gather(scans, points)
    at_roots = (h * (before + behind)).sum(1, keepdim=True)
    seen = spread(row, points, torch.cat([at_roots, h], 1), ascending=True)
    gr = seen[:, 0] - (v * seen[:, 1:]).sum(1)
    if not with_alpha:
        return gr, None
    slope = torch.zeros_like(row.alpha)
    for sums, weight in ((ones, at_roots), (scans, -h)):
        before, behind = gather(sums, points, 1)
        slope = slope + (weight * (before - behind)).sum((1, 2)).unsqueeze(-1)
    return gr, slope
