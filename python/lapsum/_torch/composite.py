"""Every operation as a short expression in the closed set, on float64 tensors of one batch shape.

These are the definitions for forward mode, derivatives of derivatives, and function transforms; for
first-order reverse mode the core's own vjp is faster (see operation.py).
"""

from __future__ import annotations

import torch
from torch import Tensor

from .closed import Inverse, KernelSum, Mask


def _signed(alpha: Tensor, descending: bool) -> Tensor:
    return -alpha if descending else alpha


def _expand_levels(levels: Tensor, batch: torch.Size) -> Tensor:
    return levels.to(torch.float64).expand(*batch, levels.shape[-1])


def soft_rank(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    a = _signed(alpha, descending)
    return KernelSum.apply(x, torch.ones_like(x), x, a, "cdf", 0) - 0.5


def soft_sort(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    levels = torch.arange(x.shape[-1], device=x.device) + 0.5
    return Inverse.apply(x, _expand_levels(levels, x.shape[:-1]), _signed(alpha, descending))


def soft_topk(x: Tensor, k: Tensor, alpha: Tensor, largest: bool) -> Tensor:
    return Mask.apply(x, k, alpha, largest, False)[0]


def log_soft_topk(x: Tensor, k: Tensor, alpha: Tensor, largest: bool) -> Tensor:
    return Mask.apply(x, k, alpha, largest, True)[0]


def lap_sum_inverse(x: Tensor, k: Tensor, alpha: Tensor) -> Tensor:
    """The root is x_i + alpha z_i for any element; the nearest one loses least."""
    z = Mask.apply(x, k, alpha, False, False)[1]
    at = z.detach().abs().argmin(-1, keepdim=True)
    near, shift = x.gather(-1, at).squeeze(-1), z.gather(-1, at).squeeze(-1)
    b = near + alpha * shift
    return torch.where(torch.isinf(shift), (alpha * shift).detach(), b)


def soft_kth_value(x: Tensor, k: Tensor, alpha: Tensor, largest: bool) -> Tensor:
    return lap_sum_inverse(x, k, _signed(alpha, largest))


def soft_quantile(x: Tensor, q: Tensor, alpha: Tensor) -> Tensor:
    return lap_sum_inverse(x, q * x.shape[-1], alpha)


def lap_sum(r: Tensor, x: Tensor, alpha: Tensor) -> Tensor:
    return KernelSum.apply(r, torch.ones_like(r), x, alpha, "cdf", 0)


def soft_permutation(x: Tensor, alpha: Tensor, descending: bool) -> Tensor:
    """Row i is the difference of the masks of the first i + 1 and of the first i elements."""
    n = x.shape[-1]
    levels = _expand_levels(torch.arange(1, n, device=x.device), x.shape[:-1])
    rows = x.unsqueeze(-2).expand(*x.shape[:-1], n - 1, n)
    a = alpha.unsqueeze(-1).expand(levels.shape)
    masks = Mask.apply(rows, levels, a, descending, False)[0]
    # Elements at the far infinity are in no mask: they share the last positions evenly.
    last = torch.isinf(rows) & ((rows > 0) != (_signed(a, descending) < 0).unsqueeze(-1))
    count = last.sum(-1, keepdim=True)
    share = (levels.unsqueeze(-1) - (n - count)) / count.clamp(min=1)
    masks = torch.where(last, share.clamp(0, 1), masks)
    edge = torch.ones_like(x).unsqueeze(-2)
    return torch.diff(torch.cat([0 * edge.detach(), masks, edge], -2), dim=-2)


def soft_permute(
    x: Tensor, values: Tensor, alpha: Tensor, transpose: bool, descending: bool
) -> Tensor:
    """P v or P^T v for values (..., n, d), by way of sums at the roots between positions."""
    n = x.shape[-1]
    a = _signed(alpha, descending)
    levels = torch.arange(1, n, device=x.device)
    b = Inverse.apply(x, _expand_levels(levels, x.shape[:-1]), a)
    v = values.transpose(-1, -2)
    batch = v.shape[:-1]

    def columns(t: Tensor) -> Tensor:
        return t.unsqueeze(-2).expand(*batch, t.shape[-1])

    a_columns = a.unsqueeze(-1).expand(batch)
    turned = (a < 0).unsqueeze(-1)
    first = columns(torch.isinf(x) & ((x < 0) != turned))
    last = columns(torch.isinf(x) & ((x > 0) != turned))
    n_first, n_last = first.sum(-1, keepdim=True), last.sum(-1, keepdim=True)
    position = torch.arange(n, device=x.device)
    at_first, at_last = position < n_first, position >= n - n_last

    def mean(which: Tensor, count: Tensor) -> Tensor:
        return torch.where(which, v, 0.0).sum(-1, keepdim=True) / count.clamp(min=1)

    if transpose:
        h = v[..., :-1] - v[..., 1:]
        out = v[..., :1] - KernelSum.apply(columns(b), h, columns(x), a_columns, "cdf", 0)
        out = torch.where(first, mean(at_first, n_first), out)
        out = torch.where(last, mean(at_last, n_last), out)
    else:
        inside = torch.where(first | last, 0.0, v)
        sums = KernelSum.apply(columns(x), inside, columns(b), a_columns, "cdf", 0)
        zero = torch.zeros_like(v[..., :1])
        out = torch.diff(torch.cat([zero, sums, inside.sum(-1, keepdim=True)], -1), dim=-1)
        out = torch.where(at_first, mean(first, n_first), out)
        out = torch.where(at_last, mean(last, n_last), out)
    return out.transpose(-1, -2)
