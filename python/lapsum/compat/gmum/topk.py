"""Soft top-k with k as a tensor of the axes of x, and the direction by a flag alone."""

from __future__ import annotations

from typing import Any

from torch import Tensor

import lapsum
from lapsum._torch.arguments import axis_of

__all__ = ["log_soft_topk", "soft_topk"]


def soft_topk(
    x: Tensor, k: Tensor, alpha: float | Tensor, dim: int = 1, largest: bool = True
) -> Tensor:
    """`lapsum.soft_topk` with k of one size along `dim`; the sign of alpha has no meaning here.

    Args:
        x: tensor with at least two axes.
        k: tensor of as many axes; along `dim` it has 1 entry, or m where `dim` is the last axis.
            A tensor without that axis, or a number, is accepted as well.
        alpha: softness; only its absolute value counts.
        dim: the axis of the rows.
        largest: choose the largest elements, else the smallest.

    Returns:
        tensor of the shape of x; for m entries of k (..., m, n).

    >>> import torch
    >>> from lapsum.compat.gmum.topk import soft_topk
    >>> x, k = torch.tensor([[1.0, 3.0, 0.5, 2.5, 4.0]]), torch.tensor([[2.0]])
    >>> soft_topk(x, k, alpha=-0.5).round(decimals=2)
    tensor([[0.0200, 0.7100, 0.0100, 0.3100, 0.9600]])
    """
    return _along(lapsum.soft_topk, "soft_topk", x, k, alpha, dim, largest)


def log_soft_topk(
    x: Tensor, k: Tensor, alpha: float | Tensor, dim: int = 1, largest: bool = True
) -> Tensor:
    """`lapsum.log_soft_topk`, with the arguments of `soft_topk`.

    Returns:
        tensor as of `soft_topk`, finite where the mask underflows.

    >>> import torch
    >>> from lapsum.compat.gmum.topk import log_soft_topk
    >>> log_soft_topk(torch.tensor([[0.0, 3000.0]]), torch.tensor([[1.0]]), 1.0)[0, 0]
    tensor(-1500.6931)
    """
    return _along(lapsum.log_soft_topk, "log_soft_topk", x, k, alpha, dim, largest)


def _along(
    function: Any, op: str, x: Tensor, k: Any, alpha: Any, dim: int, largest: bool
) -> Tensor:
    at = axis_of(op, dim, None, x.ndim) % x.ndim
    softness = abs(alpha)
    if not isinstance(k, Tensor) or k.ndim < x.ndim:
        return function(x, k, softness, dim=at, largest=largest)
    if k.shape[at] == 1:
        return function(x, k.squeeze(at), softness, dim=at, largest=largest)
    if at != x.ndim - 1:
        raise ValueError(f"{op}: k must have 1 entry along dim={dim}, got {tuple(k.shape)}")
    return function(x.unsqueeze(-2), k, softness, largest=largest)
