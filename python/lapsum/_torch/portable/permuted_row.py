"""The soft permutation of a row as an operator: P v and P^T u by scans.

Position i lies between the roots of the levels i and i + 1, the first and the last being open. With
their width in alphas, an element outside has (1 - e^-width) / 2 times its decay to the nearer root,
and one between them half the sum of the losses to both.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from .decayed_scan import Scans, decayed_scan, scan_both
from .laplace import loss
from .points import Points
from .roots import Roots, solve_levels
from .runs import sums_by_key
from .sorted_row import SortedRow


class PermutedRow(NamedTuple):
    """Elements are in sorted order; all tensors are (rows, n)."""

    row: SortedRow
    roots: Roots  # (rows, n - 1)
    first: Tensor  # how many elements lie before each position
    end: Tensor  # and through it
    left: Tensor  # the entry of the last element before it, and of the first behind it
    right: Tensor
    position: Tensor  # of each element
    inside: Tensor  # its entry there

    def apply(self, v: Tensor) -> Tensor:
        """P v for v (rows, columns, n), zero at infinite elements."""
        n = v.shape[-1]
        scans = scan_both(self.row, v)

        def at(sums: Tensor, index: Tensor) -> Tensor:
            return sums.gather(-1, index.clamp(0, n - 1).unsqueeze(1).expand(v.shape))

        out = sums_by_key(self.inside.unsqueeze(1) * v, self.position, n)
        out = out + self.left.unsqueeze(1) * at(scans.before[0], self.first - 1)
        return out + self.right.unsqueeze(1) * at(scans.behind[0], self.end)

    def apply_transpose(self, u: Tensor) -> Tensor:
        """P^T u for u (rows, columns, n)."""
        n = u.shape[-1]
        own = u.gather(-1, self.position.unsqueeze(1).expand(u.shape))
        at_first = sums_by_key(self.left.unsqueeze(1) * u, self.first, n + 1)[..., 1:]
        at_end = sums_by_key(self.right.unsqueeze(1) * u, self.end, n + 1)[..., :-1]
        scans = decayed_scan(self.row, [at_end], [at_first])
        return self.inside.unsqueeze(1) * own + scans.before[0] + scans.behind[0]


def permuted_row(row: SortedRow, ones: Scans) -> PermutedRow:
    """`ones` are the scans of the elements."""
    rows, n = row.r.shape
    levels = torch.arange(1, n, dtype=row.r.dtype, device=row.r.device).expand(rows, n - 1)
    roots = solve_levels(row, levels, ones)
    points, none = roots.points, torch.zeros_like(row.alpha)
    end = torch.full_like(none, torch.inf)
    lower = torch.cat([-end, roots.anchor], 1), torch.cat([none, roots.offset], 1)
    upper = torch.cat([roots.anchor, end], 1), torch.cat([roots.offset, none], 1)
    before, through = _decays(points)
    bound = torch.zeros_like(row.below)
    first = torch.cat([bound, points.before], 1)
    last = torch.cat([points.before, bound + n], 1)

    def distance(a: tuple[Tensor, Tensor], b: tuple[Tensor, Tensor]) -> Tensor:
        """What is lost between a <= b; equal infinities are 0 apart."""
        apart = torch.where(a[0] == b[0], 0.0, b[0] - a[0]) + (b[1] - a[1])
        return loss((apart / row.alpha).clamp(min=0))

    width = torch.where(lower[0].isinf() & (lower[0] == upper[0]), 0.0, distance(lower, upper))
    element = torch.arange(n, device=first.device).expand(rows, n).contiguous()
    position = torch.searchsorted(points.before.contiguous(), element, right=True)
    own = row.r, torch.zeros_like(row.r)
    to_lower = distance((lower[0].gather(-1, position), lower[1].gather(-1, position)), own)
    to_upper = distance(own, (upper[0].gather(-1, position), upper[1].gather(-1, position)))
    return PermutedRow(
        row,
        roots,
        first,
        last,
        torch.cat([none, before], 1) * width / 2,
        torch.cat([through, none], 1) * width / 2,
        position,
        (to_lower + to_upper) / 2,
    )


def _decays(points: Points) -> tuple[Tensor, Tensor]:
    """e^-z at the neighbours of the roots."""
    before = torch.where(points.before_weight > 0, torch.exp(-points.before_z), 0.0)
    return before, torch.where(points.behind_weight > 0, torch.exp(-points.behind_z), 0.0)
