"""The one-interval solve: between two neighbours LapSum is a sum of two exponentials.

LapSum(b) = k is then a quadratic. No branch that is taken cancels, overflows or takes the log of 0.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Root(NamedTuple):
    """The root b = anchor + offset, its distances z to both ends in alphas, and their weights.

    Weights are the softmax e^-z / total of the elements at the ends, total being the sum of e^-|z|
    over all. They stay exact on a plateau, where the total underflows.
    """

    anchor: Tensor
    offset: Tensor
    before_z: Tensor
    behind_z: Tensor
    before_weight: Tensor
    behind_weight: Tensor
    total: Tensor


def solve_interval(
    low: Tensor, before: Tensor, high: Tensor, behind: Tensor, excess: Tensor, alpha: Tensor
) -> Root:
    """Solves behind e^-behind_z / 2 - before e^-before_z / 2 = excess, k less the count before b.

    `before` and `behind` are the decayed sums at the ends low and high; an empty side has sum 0 and
    leaves the tail of the other.
    """
    both = (before > 0) & (behind > 0)
    gap = torch.where(both, (high - low) / alpha, torch.inf)
    # The square root of before behind e^-gap, taken before it underflows.
    mean = torch.where(both, torch.sqrt(before * behind) * torch.exp(gap / -2), 0.0)
    m = torch.where(excess == 0, mean, torch.sqrt(excess * excess + mean * mean))
    larger = m + excess.abs()  # of the two sides as b sees them
    total = 2 * m
    up, level = excess > 0, excess == 0
    tilt = torch.log(before / behind) / 2
    # The end that the larger side lies at is near: everything is measured from there.
    near_z = -torch.log(larger / torch.where(up, behind, before))
    far_z = gap - near_z
    near_share, far_share = larger / total, mean * (mean / larger) / total
    half = 0.5
    before_share = torch.where(level, half, torch.where(up, far_share, near_share))
    behind_share = torch.where(level, half, torch.where(up, near_share, far_share))
    return Root(
        anchor=torch.where(up, high, low),
        offset=torch.where(
            level, (high / 2 - low / 2) + alpha * tilt, torch.where(up, -alpha, alpha) * near_z
        ),
        before_z=torch.where(level, gap / 2 + tilt, torch.where(up, far_z, near_z)),
        behind_z=torch.where(level, gap / 2 - tilt, torch.where(up, near_z, far_z)),
        before_weight=torch.where(before > 0, before_share / before, 0.0),
        behind_weight=torch.where(behind > 0, behind_share / behind, 0.0),
        total=total,
    )
