"""Points between the elements of a sorted row, and what they see of the row."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import torch
from torch import Tensor

from .decayed_scan import Scans
from .laplace import FAR
from .sorted_row import SortedRow


class Points(NamedTuple):
    """Points (rows, m): how many elements lie before each, and which is the first behind it.

    The distances z to these two neighbours are in alphas; their weights are e^-z for a plain point
    and the softmax e^-z / sum(e^-z) for a root. Distances are 0 where weights are.
    """

    before: Tensor
    behind: Tensor
    before_z: Tensor
    behind_z: Tensor
    before_weight: Tensor
    behind_weight: Tensor


def gather(scans: Scans, points: Points, order: int = 0) -> tuple[Tensor, Tensor]:
    """Sums of w_i |z|^order e^-|z| over the elements before each point, and over those behind it.

    (rows, columns, m) each, in units of the weights of the points.
    """
    n = scans.before[0].shape[-1]

    def side(sums: list[Tensor], at: Tensor, z: Tensor, weight: Tensor) -> Tensor:
        at = at.clamp(0, n - 1).unsqueeze(1).expand(-1, sums[0].shape[1], -1)
        seen = sums[0].gather(-1, at)
        for q in range(1, order + 1):
            seen = comb(order, q) * sums[q].gather(-1, at) + z.unsqueeze(1) * seen
        return weight.unsqueeze(1) * seen

    return (
        side(scans.before, points.before - 1, points.before_z, points.before_weight),
        side(scans.behind, points.behind, points.behind_z, points.behind_weight),
    )


def locate(row: SortedRow, x: Tensor, ties: bool = True) -> Points:
    """Points at x (rows, m), which has the sign of the row.

    Elements equal to x count as before it, or on neither side where `ties` is false. An infinite x
    sees nothing, NaN sees NaN.
    """
    r, x = row.r.contiguous(), x.contiguous()
    n = r.shape[-1]
    behind = torch.searchsorted(r, x, right=True)
    before = behind if ties else torch.searchsorted(r, x)
    sees = x.isfinite() | x.isnan()

    def distance(at: Tensor, sign: int, exists: Tensor) -> tuple[Tensor, Tensor]:
        z = sign * (x - r.gather(-1, at.clamp(0, n - 1))) / row.alpha
        exists = exists & sees
        z = torch.where(exists, z.clamp(0, FAR), 0.0)
        return z, torch.where(exists, torch.exp(-z), 0.0)

    before_z, before_weight = distance(before - 1, 1, before > 0)
    behind_z, behind_weight = distance(behind, -1, behind < n)
    nan = torch.where(x.isnan(), torch.nan, 0.0).to(x.dtype)
    return Points(before, behind, before_z, behind_z, before_weight + nan, behind_weight + nan)
