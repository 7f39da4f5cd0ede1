"""Sums over runs of equal keys: a scatter-add whose bits do not depend on who comes first."""

from __future__ import annotations

import torch
from torch import Tensor


def sums_by_key(values: Tensor, keys: Tensor, bins: int) -> Tensor:
    """The sum of values (rows, columns, m) for every key below `bins`; keys (rows, m) ascend."""
    rows, columns, m = values.shape
    if m == 0:
        return values.new_zeros(rows, columns, bins)
    step = 1
    while step < m:
        same = (keys[:, step:] == keys[:, : m - step]).unsqueeze(1)
        joined = values[..., step:] + torch.where(same, values[..., : m - step], 0.0)
        values = torch.cat([values[..., :step], joined], -1)
        step *= 2
    wanted = torch.arange(bins, device=keys.device).expand(rows, bins).contiguous()
    last = torch.searchsorted(keys.contiguous(), wanted, right=True) - 1
    at = last.clamp(min=0)
    found = (last >= 0) & (keys.gather(-1, at) == wanted)
    sums = values.gather(-1, at.unsqueeze(1).expand(rows, columns, bins))
    return torch.where(found.unsqueeze(1), sums, 0.0)
