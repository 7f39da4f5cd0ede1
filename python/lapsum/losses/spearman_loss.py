"""One minus Spearman's correlation, with soft ranks for the predictions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import lapsum
from lapsum._torch.arguments import axis_of
from lapsum._torch.precision import wide

from .arguments import check_reduction, reduced, same_shape, softness, wide_row

_OP = "spearman_loss"
_soft_rank: Any = lapsum.soft_rank


def spearman_loss(
    pred: Tensor,
    target: Tensor,
    alpha: float | Tensor = 1.0,
    *,
    dim: int = -1,
    reduction: str = "mean",
) -> Tensor:
    """One minus the correlation of the soft ranks of pred with the ranks of target: 0 to 2.

    Ranks of target are hard, those of equal values averaged, and have no gradient. Computed in
    float64. A row in which all of target or all of pred are equal has no correlation: it counts as
    0, the loss as 1; equal predictions still have a gradient that parts them.

    Args:
        pred: tensor (..., n), with the rows along `dim`.
        target: tensor of the shape of pred, of any real type.
        alpha: softness of the ranks, in units of pred; a number, or a tensor that broadcasts with
            the batch shape (the shape of pred without `dim`).
        dim: the axis of the rows.
        reduction: "none" gives a loss for every row, "mean" and "sum" one number.

    Returns:
        tensor (...) or a single number; float64 for float64 pred, else float32.

    >>> import torch
    >>> from lapsum.losses import spearman_loss
    >>> pred, target = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]), torch.tensor([5, 6, 7, 8, 7])
    >>> spearman_loss(pred, target, alpha=0.01)
    tensor(0.1792)
    """
    check_reduction(_OP, reduction)
    x = wide_row(_OP, "pred", pred)
    if not isinstance(target, Tensor) or target.is_complex() or target.dtype == torch.bool:
        got = target.dtype if isinstance(target, Tensor) else type(target)
        raise TypeError(f"{_OP}: target must be a tensor of real numbers, got {got}")
    same_shape(_OP, "target", target, x.shape)
    at = axis_of(_OP, dim, None, x.ndim)
    middle = (x.shape[at] - 1) / 2
    a = softness(_OP, alpha, x.device)
    soft = _soft_rank(x.movedim(at, -1).to(wide(x.device)), a) - middle
    hard = _average_rank(target.detach().movedim(at, -1)) - middle
    correlation = (soft * hard).sum(-1) / (_norm(soft) * _norm(hard))
    return reduced((1 - correlation).to(x.dtype), reduction)


def _norm(t: Tensor) -> Tensor:
    """The length of each row; 1 for zeros: the correlation stays 0, its gradient finite."""
    square = t.square().sum(-1)
    return torch.where(square == 0, 1.0, square).sqrt()


def _average_rank(t: Tensor) -> Tensor:
    """The mean position, from 0, of each value among its equals in the sorted row."""
    t = t.contiguous()
    ordered = t.sort(-1).values
    before = torch.searchsorted(ordered, t)
    through = torch.searchsorted(ordered, t, right=True)
    rank = (before + through - 1).to(wide(t.device)) / 2
    return torch.where(t.isnan().any(-1, keepdim=True), torch.nan, rank)
