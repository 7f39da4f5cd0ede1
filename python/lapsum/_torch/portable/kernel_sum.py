"""y_t = sum_i w_i phi((x_t - r_i) / alpha), phi being F or |z|^p e^-|z|, even or odd."""

from __future__ import annotations

import torch
from torch import Tensor

from .decayed_scan import scan_both
from .points import Points, gather, locate
from .sorted_row import SortedRow


def kernel_sum(row: SortedRow, w: Tensor, x: Tensor, shape: str, order: int) -> Tensor:
    """The sums (rows, columns, m) at points x (rows, m), which have the sign of the row.

    Weights w (rows, columns, n) are in the order of the elements. odd_0 counts 0 at z = 0.
    """
    jumps = shape == "odd" and order == 0
    points = locate(row, x, ties=not jumps)
    weights = row.gather(w)
    inside = torch.where(row.finite.unsqueeze(1), weights, 0.0)
    before, behind = gather(scan_both(row, inside, order), points, order)
    if shape == "even":
        return before + behind
    if shape == "odd":
        return before - behind
    return _counts(row, weights, x, points) - (before - behind) / 2


def _counts(row: SortedRow, w: Tensor, x: Tensor, points: Points) -> Tensor:
    """Elements whose F is 1 but for an exponential: all before, half of those at one infinity."""
    n = w.shape[-1]
    through = torch.nn.functional.pad(w.cumsum(-1), (1, 0))

    def weight(count: Tensor) -> Tensor:
        return through.gather(-1, count.unsqueeze(1).expand(-1, w.shape[1], -1))

    first, last = weight(row.below), weight(n - row.above)
    counts = weight(torch.minimum(torch.maximum(points.before, row.below), n - row.above))
    at = x.unsqueeze(1)
    counts = torch.where(at == -torch.inf, first / 2, counts)
    return torch.where(at == torch.inf, (through[..., -1:] + last) / 2, counts)
