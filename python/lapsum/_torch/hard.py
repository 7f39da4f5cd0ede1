"""Straight-through: the hard result forward, the soft gradient backward; ties go by index."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from .kernels import KERNELS, Argument
from .padding import present
from .precision import wide


def straight_through(
    name: str, args: Sequence[Argument], flags: Sequence[bool], soft: Tensor
) -> Tensor:
    """The hard result exactly, with the derivatives of `soft`."""
    with torch.no_grad():
        hard = _hard(name, args, flags).to(soft.dtype)
    shift = soft - soft.detach()
    return hard + torch.where(torch.isfinite(shift), shift, torch.zeros_like(shift))


def _hard(name: str, args: Sequence[Argument], flags: Sequence[bool]) -> Tensor:
    kernel = KERNELS[name]
    x, alpha, lengths = args[0], args[kernel.numbers - 1], kernel.lengths(args)
    assert isinstance(x, Tensor)
    softness = torch.as_tensor(alpha, dtype=wide(x.device), device=x.device)
    turned = (softness < 0) != flags[0]
    r = torch.where(turned.unsqueeze(-1), -x, x)
    if lengths is not None:
        there = present(x.shape[-1], lengths)
        r = torch.where(there, r, torch.inf)
        if name == "soft_permutation":
            there = there.unsqueeze(-1) & there.unsqueeze(-2)
        return torch.where(there, _hard_of(name, x, r, args, softness), 0.0)
    return _hard_of(name, x, r, args, softness)


def _hard_of(name: str, x: Tensor, r: Tensor, args: Sequence[Argument], softness: Tensor) -> Tensor:
    """From x, and r, which is x in ascending order."""
    order = torch.argsort(r, dim=-1, stable=True)
    n = x.shape[-1]
    unknown = r.isnan().any(-1, keepdim=True)
    unknown = unknown | ~(softness.isfinite() & (softness != 0)).unsqueeze(-1)
    if name == "soft_sort":
        return torch.where(unknown, torch.nan, x.gather(-1, order))
    if name == "soft_permutation":
        matrix = torch.nn.functional.one_hot(order, n).to(x.dtype)
        return torch.where(unknown.unsqueeze(-1), torch.nan, matrix)
    positions = torch.arange(n, device=x.device).expand(order.shape)
    rank = torch.empty_like(order).scatter_(-1, order, positions)
    if name == "soft_rank":
        return torch.where(unknown, torch.nan, rank.to(x.dtype))
    k = torch.as_tensor(args[1], dtype=wide(x.device), device=x.device).unsqueeze(-1)
    chosen = (rank < k.round()) & (r != torch.inf)
    return torch.where(unknown | k.isnan(), torch.nan, chosen.to(x.dtype))
