"""Decayed sums along sorted rows: what every element sees of those before and behind it.

With z = |r_j - r_i| / alpha, before_j is the sum of w_i z^p e^-z over i <= j, and behind_j over
i >= j, in log2(n) steps. A step joins neighbouring runs by the exact distance between their ends:
decays are never multiplied, and sums of one sign never cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import NamedTuple

import torch
from torch import Tensor

from .laplace import FAR
from .sorted_row import SortedRow


class Scans(NamedTuple):
    """Sums (rows, columns, n) by order: before[p], behind[p]."""

    before: list[Tensor]
    behind: list[Tensor]


def decayed_scan(row: SortedRow, before: Sequence[Tensor], behind: Sequence[Tensor]) -> Scans:
    """Scans moments of weights (rows, columns, n) by order, each list in its direction."""
    r, n, step = row.r, row.r.shape[-1], 1
    sums = Scans(list(before), list(behind))
    while step < n:
        gap = ((r[:, step:] - r[:, : n - step]) / row.alpha).clamp(max=FAR).unsqueeze(1)
        decay = torch.exp(-gap)
        sums = Scans(
            [_joined(sums.before, p, gap, decay, step) for p in range(len(before))],
            [_joined(sums.behind, p, gap, decay, -step) for p in range(len(behind))],
        )
        step *= 2
    return sums


def scan_both(row: SortedRow, w: Tensor, order: int = 0) -> Scans:
    """Scans of weights w (rows, columns, n) up to an order, in both directions."""
    moments = [w] + [torch.zeros_like(w)] * order
    return decayed_scan(row, moments, moments)


def scan_ones(row: SortedRow, order: int = 0) -> Scans:
    """The scans of the elements themselves."""
    return scan_both(row, row.weight.unsqueeze(1), order)


def _joined(sums: list[Tensor], p: int, gap: Tensor, decay: Tensor, step: int) -> Tensor:
    """Order p of every run and the run that it follows; a step over a gap shifts binomially."""
    n = sums[p].shape[-1]
    far = slice(0, n - step) if step > 0 else slice(-step, n)
    seen = sums[0][..., far]
    for q in range(1, p + 1):
        seen = comb(p, q) * sums[q][..., far] + gap * seen
    if step > 0:
        return torch.cat([sums[p][..., :step], torch.addcmul(sums[p][..., step:], decay, seen)], -1)
    return torch.cat([torch.addcmul(sums[p][..., :step], decay, seen), sums[p][..., step:]], -1)
