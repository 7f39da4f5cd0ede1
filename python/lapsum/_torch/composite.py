"""Every operation as a short expression in the closed set, on wide tensors of one batch shape.

These are the definitions that derivatives of derivatives come from; first derivatives are those of
the kernels (see derivatives.py). Every element counts w times, once where w is None; absent ones
not at all, see `ragged`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from .closed import Inverse, KernelSum, Mask
from .kernels import Argument, Kernel
from .padding import present
from .precision import wide


def _signed(alpha: Tensor, descending: bool) -> Tensor:
    return -alpha if descending else alpha


def _levels(x: Tensor, first: float) -> Tensor:
    """The levels first, first + 1, ... below n, for every row of x."""
    levels = torch.arange(x.shape[-1] - int(first), dtype=x.dtype, device=x.device) + first
    return levels.expand(*x.shape[:-1], levels.shape[-1])


Weights = Tensor | None


def _weights(x: Tensor, w: Weights) -> Tensor:
    return torch.ones_like(x) if w is None else w


def soft_rank(x: Tensor, alpha: Tensor, descending: bool, *, w: Weights = None) -> Tensor:
    a, w = _signed(alpha, descending), _weights(x, w)
    return KernelSum.apply(x, w, x, a, "cdf", 0) - 0.5 * w


def soft_sort(x: Tensor, alpha: Tensor, descending: bool, *, w: Weights = None) -> Tensor:
    return Inverse.apply(x, w, _levels(x, 0.5), _signed(alpha, descending))


def soft_topk(x: Tensor, k: Tensor, alpha: Tensor, largest: bool, *, w: Weights = None) -> Tensor:
    return Mask.apply(x, w, k, alpha, largest, False)[0]


def log_soft_topk(
    x: Tensor, k: Tensor, alpha: Tensor, largest: bool, *, w: Weights = None
) -> Tensor:
    return Mask.apply(x, w, k, alpha, largest, True)[0]


def lap_sum_inverse(x: Tensor, k: Tensor, alpha: Tensor, *, w: Weights = None) -> Tensor:
    """The root is x_i + alpha z_i for any element; the nearest one loses least."""
    z = Mask.apply(x, w, k, alpha, False, False)[1]
    at = z.detach().abs().argmin(-1, keepdim=True)
    near, shift = x.gather(-1, at).squeeze(-1), z.gather(-1, at).squeeze(-1)
    infinite = torch.isinf(shift)
    b = near + alpha * torch.where(infinite, 0.0, shift)
    return torch.where(infinite, (alpha * shift).detach(), b)


def soft_kth_value(
    x: Tensor, k: Tensor, alpha: Tensor, largest: bool, *, w: Weights = None
) -> Tensor:
    return lap_sum_inverse(x, k, _signed(alpha, largest), w=w)


def soft_quantile(x: Tensor, q: Tensor, alpha: Tensor, *, w: Weights = None) -> Tensor:
    return lap_sum_inverse(x, q * (x.shape[-1] if w is None else w.sum(-1)), alpha, w=w)


def lap_sum(r: Tensor, x: Tensor, alpha: Tensor, *, w: Weights = None) -> Tensor:
    return KernelSum.apply(r, _weights(r, w), x, alpha, "cdf", 0)


def soft_permutation(x: Tensor, alpha: Tensor, descending: bool, *, w: Weights = None) -> Tensor:
    """Row i is the difference of the masks of the first i + 1 and of the first i elements."""
    n = x.shape[-1]
    levels = _levels(x, 1)
    rows = x.unsqueeze(-2).expand(*x.shape[:-1], n - 1, n)
    a = alpha.unsqueeze(-1).expand(levels.shape)
    weights = None if w is None else w.unsqueeze(-2).expand(rows.shape)
    masks = Mask.apply(rows, weights, levels, a, descending, False)[0]
    # Elements at the far infinity are in no mask: they share the last positions evenly.
    last = torch.isinf(rows) & ((rows > 0) != (_signed(a, descending) < 0).unsqueeze(-1))
    count = last.sum(-1, keepdim=True)
    share = (levels.unsqueeze(-1) - (_count(x, w).unsqueeze(-2) - count)) / count.clamp(min=1)
    masks = torch.where(last, share.clamp(0, 1), masks)
    edge = torch.ones_like(x).unsqueeze(-2)
    return torch.diff(torch.cat([0 * edge.detach(), masks, edge], -2), dim=-2)


def _count(x: Tensor, w: Weights) -> Tensor:
    """How many elements there are, (..., 1)."""
    return _weights(x, w).sum(-1, keepdim=True)


def soft_permute(
    x: Tensor,
    values: Tensor,
    alpha: Tensor,
    transpose: bool,
    descending: bool,
    *,
    w: Weights = None,
) -> Tensor:
    """P v or P^T v for values (..., n, d), by way of sums at the roots between positions."""
    n = x.shape[-1]
    a = _signed(alpha, descending)
    b = Inverse.apply(x, w, _levels(x, 1), a)
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
    count = _count(x, w).unsqueeze(-2)
    at_first, at_last = position < n_first, (position >= count - n_last) & (position < count)

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


def ragged(
    definition: Callable[..., Tensor],
    arrays: Sequence[Tensor],
    w: Weights,
    numbers: Sequence[Tensor],
    flags: Any,
    lengths: Tensor,
) -> Tensor:
    """An operation on packed rows, of which only the first elements are there."""
    x = arrays[0]
    there = present(x.shape[-1], lengths)
    # Padding may hold anything: it must not even touch a gradient.
    permute = definition is soft_permute
    held = [_where(there, a, 0.0) if i == 0 or permute else a for i, a in enumerate(arrays)]
    weights = there.to(x.dtype) if w is None else _where(there, w, 0.0)
    out = definition(*held, *numbers, *flags, w=weights)
    if definition is soft_permutation:
        return torch.where(there.unsqueeze(-1) & there.unsqueeze(-2), out, 0.0)
    if definition is log_soft_topk:
        return _where(there, out, -torch.inf)
    return _where(there, out, 0.0) if out.ndim >= x.ndim and definition is not lap_sum else out


def _where(there: Tensor, t: Tensor, absent: float) -> Tensor:
    return torch.where(there if t.ndim == there.ndim else there.unsqueeze(-1), t, absent)


def compose(kernel: Kernel, args: Sequence[Any], flags: Any) -> Tensor:
    """The composite, wide inside; each of several levels has a row of its own there."""
    x = args[0]
    dtype = wide(x.device)
    rows, batch = x.shape[:-1], kernel.batch(args)
    single = [1] * (len(batch) - len(rows))

    def whole(a: Argument, own: Sequence[int] = ()) -> Tensor:
        if not isinstance(a, Tensor):
            return x.new_full((), a, dtype=dtype).expand(batch)
        t = a.to(dtype)
        if t.ndim == len(batch) + len(own):
            return t
        return t.reshape((*rows, *single, *own)).expand((*batch, *own))

    arrays = [whole(a, a.shape[len(rows) :]) for a in args[: kernel.arrays]]
    weights = arrays.pop() if kernel.weighted else None
    numbers = [whole(a) for a in args[kernel.arrays : kernel.numbers]]
    definition: Callable[..., Tensor] = globals()[kernel.operation]
    lengths = kernel.lengths(args)
    if lengths is None:
        out = definition(*arrays, *numbers, *flags, w=weights)
    else:
        out = ragged(definition, arrays, weights, numbers, flags, whole(lengths))
    return out.to(x.dtype)
