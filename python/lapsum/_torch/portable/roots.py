"""Roots of levels, LapSum(b) = k: bisection over the sorted elements, then a closed form."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from lapsum._torch.precision import large

from .decayed_scan import Scans, decayed_scan
from .interval import solve_interval
from .points import Points
from .runs import sums_by_key
from .sorted_row import SortedRow


class Roots(NamedTuple):
    """Roots (rows, m): where they lie, b = anchor + offset, and the sum of e^-|z| over the row.

    A level that no finite b reaches has no weights and an infinite anchor; among elements at -inf
    its offset is the share of each of them. NaN levels, and rows that are not valid, have NaN
    anchors.
    """

    points: Points
    anchor: Tensor
    offset: Tensor
    total: Tensor

    @property
    def b(self) -> Tensor:
        return self.anchor + self.offset

    @property
    def unknown(self) -> Tensor:
        """NaN where the root is, else 0."""
        return torch.where(self.anchor.isnan(), self.anchor, 0.0)


def solve_levels(row: SortedRow, k: Tensor, ones: Scans) -> Roots:
    """The roots of k (rows, m), in any order."""
    n = row.r.shape[-1]
    before, behind = ones.before[0].squeeze(1), ones.behind[0].squeeze(1)
    count = row.weight.cumsum(-1)
    level = k - row.weight_below
    below = _passed(level, count - row.weight / 2, (behind - before) / 2)
    low, high = (below - 1).clamp(min=0), below.clamp(max=n - 1)
    root = solve_interval(
        row.r.gather(-1, low),
        torch.where(below > 0, before.gather(-1, low), 0.0),
        row.r.gather(-1, high),
        torch.where(below < n, behind.gather(-1, high), 0.0),
        level - torch.where(below > 0, count.gather(-1, low), 0.0),
        row.alpha,
    )
    reached = row.valid & (level > 0) & (level < count[:, -1:])
    nothing = (level <= 0) & (k < row.weight_below + count[:, -1:] + row.weight_above)
    end = torch.where(nothing, -torch.inf, torch.inf)
    end = torch.where(k.isnan() | ~row.valid, torch.nan, end)
    share = torch.where(nothing & (row.below > 0), (k / row.weight_below).clamp(0, 1), 0.0)
    below = torch.where(reached, below, torch.where(nothing, 0, n))

    def side(z: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        seen = reached & (weight > 0)
        z = z.clamp(-large(z), large(z))  # two of them differ by no NaN
        return torch.where(seen, z, 0.0), torch.where(seen, weight, 0.0)

    before_z, before_weight = side(root.before_z, root.before_weight)
    behind_z, behind_weight = side(root.behind_z, root.behind_weight)
    return Roots(
        Points(below, below, before_z, behind_z, before_weight, behind_weight),
        torch.where(reached, root.anchor, end.to(k.dtype)),
        torch.where(reached, root.offset, share),
        torch.where(reached, root.total, 0.0),
    )


def _passed(level: Tensor, count: Tensor, fraction: Tensor) -> Tensor:
    """How many elements of the row have count + fraction <= level, both (rows, n) ascending.

    Counts are compared first: their sum with the fraction would lose it in a long row.
    """
    n = count.shape[-1]
    passed = torch.zeros_like(level, dtype=torch.int64)
    step = 1
    while 2 * step <= n:
        step *= 2
    while step:
        probe = passed + step
        at = probe.clamp(max=n) - 1
        reached = level - count.gather(-1, at) >= fraction.gather(-1, at)
        passed = torch.where((probe <= n) & reached, probe, passed)
        step //= 2
    return passed


def spread(row: SortedRow, points: Points, u: Tensor, ascending: bool = False) -> Tensor:
    """The adjoint of gather: sums of u_t e^-|z| over the points at every sorted element.

    From (rows, columns, m) to (rows, columns, n), u being in units of the weights of the points,
    whose `before` and `behind` are one. `ascending` says that the points ascend.
    """
    keys = points.before
    left, right = u * points.before_weight.unsqueeze(1), u * points.behind_weight.unsqueeze(1)
    if not ascending:
        keys, order = torch.sort(keys, dim=-1, stable=True)
        order = order.unsqueeze(1).expand(u.shape)
        left, right = left.gather(-1, order), right.gather(-1, order)
    scans = decayed_scan(row, *([side] for side in _at_neighbours(row, keys, left, right)))
    return _of_elements(row, scans.before[0] + scans.behind[0])


def spread_odd(row: SortedRow, points: Points, u: Tensor) -> Tensor:
    """As `spread`, sums of u_t z e^-|z|, for ascending points; z is theirs, seen from elements."""
    left, right = u * points.before_weight.unsqueeze(1), u * points.behind_weight.unsqueeze(1)
    moments = torch.cat([left, left * points.before_z.unsqueeze(1)], 1)
    others = torch.cat([right, right * points.behind_z.unsqueeze(1)], 1)
    before, behind = _at_neighbours(row, points.before, moments, others)
    scans = decayed_scan(row, before.chunk(2, 1), behind.chunk(2, 1))
    return _of_elements(row, scans.behind[1] - scans.before[1])


def _at_neighbours(
    row: SortedRow, keys: Tensor, left: Tensor, right: Tensor
) -> tuple[Tensor, Tensor]:
    """What points give to the element behind them, and to the one before: to be scanned onwards."""
    both = sums_by_key(torch.cat([left, right], 1), keys, row.r.shape[-1] + 1)
    to_before, to_behind = both.split(left.shape[1], 1)
    return to_behind[..., :-1], to_before[..., 1:]


def _of_elements(row: SortedRow, seen: Tensor) -> Tensor:
    return torch.where(row.finite.unsqueeze(1), row.weight.unsqueeze(1) * seen, 0.0)
