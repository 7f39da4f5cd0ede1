"""Binary cross-entropy of a soft top-k mask against the elements that should be chosen."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import lapsum

from .arguments import check_reduction, level, reduced, same_shape, softness, wide_row

_OP = "soft_topk_bce"
_log_soft_topk: Any = lapsum.log_soft_topk


def soft_topk_bce(
    scores: Tensor,
    relevance: Tensor,
    k: float | Tensor,
    alpha: float | Tensor = 1.0,
    *,
    reduction: str = "mean",
) -> Tensor:
    """Binary cross-entropy between relevance and the soft top-k mask p of the scores.

    For each element -(r log p + (1 - r) log(1 - p)). Both logarithms are computed as such, so
    nothing is clamped: a relevant element far from being chosen has a large finite loss and a
    gradient that lifts it. An element at -inf is padding: it costs nothing unless it is relevant.

    Args:
        scores: tensor (..., n).
        relevance: tensor of the same shape: boolean, or numbers in [0, 1].
        k: how many to choose, any real in [0, n]; a number, or a tensor that broadcasts with the
            batch shape (...).
        alpha: softness; a number, or a tensor that broadcasts with the batch shape.
        reduction: "none" gives a loss for every element, "mean" and "sum" one number.

    Returns:
        tensor (..., n) or a single number; float64 for float64 scores, else float32.

    >>> import torch
    >>> from lapsum.losses import soft_topk_bce
    >>> scores, relevance = torch.tensor([4.0, 3.0, 1.0, 0.0]), torch.tensor([1, 1, 0, 0])
    >>> soft_topk_bce(scores, relevance, k=2, alpha=0.5)
    tensor(0.0396)
    >>> soft_topk_bce(scores * 1e6, 1 - relevance, k=2, alpha=0.5)
    tensor(3000000.7500)
    """
    check_reduction(_OP, reduction)
    x = wide_row(_OP, "scores", scores)
    if not isinstance(relevance, Tensor) or relevance.is_complex():
        got = relevance.dtype if isinstance(relevance, Tensor) else type(relevance)
        raise TypeError(f"{_OP}: relevance must be a boolean or real tensor, got {got}")
    same_shape(_OP, "relevance", relevance, x.shape)
    k, a = level(_OP, k, x.shape[-1], x.device), softness(_OP, alpha, x.device)
    log_p, log_rest = _log_soft_topk(x, k, a, return_complement=True)
    r = relevance.to(log_p.dtype)
    loss = -(_weighted(r, log_p) + _weighted(1 - r, log_rest))
    return reduced(loss, reduction)


def _weighted(weight: Tensor, log: Tensor) -> Tensor:
    """The product, and 0 where the weight is 0, even of a log that is infinite."""
    return torch.where(weight == 0, 0.0, weight * torch.where(weight == 0, 0.0, log))
